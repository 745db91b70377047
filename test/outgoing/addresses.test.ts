import { describe, expect, it } from 'vitest';
import {
  type AddressKind,
  isLoopbackAddress,
  kindOfAddress,
} from '../../src/outgoing/addresses.ts';

const table: readonly (readonly [AddressKind, readonly string[]])[] = [
  [
    'public',
    [
      '8.8.8.8',
      '9.255.255.255',
      '11.0.0.0',
      '100.63.255.255',
      '100.128.0.0',
      '126.255.255.255',
      '128.0.0.1',
      '169.253.255.255',
      '172.15.255.255',
      '172.32.0.0',
      '192.167.255.255',
      '198.17.255.255',
      '198.20.0.0',
      '223.255.255.255',
      '2606:4700::1111',
      '2a00:1450:4001::1',
      '64:ff9b::8.8.8.8',
    ],
  ],
  [
    'internal',
    [
      '10.0.0.0',
      '10.255.255.255',
      '100.64.0.0',
      '100.127.255.255',
      '127.0.0.1',
      '127.255.255.255',
      '172.16.0.0',
      '172.31.255.255',
      '192.168.0.0',
      '192.168.255.255',
      '::1',
      '0:0:0:0:0:0:0:1',
      'fc00::1',
      'fdff:ffff::1',
      '64:ff9b::10.0.0.1',
      '64:ff9b::7f00:1',
    ],
  ],
  [
    'never',
    [
      '0.0.0.0',
      '0.255.255.255',
      '169.254.0.1',
      '169.254.169.254',
      '192.0.0.8',
      '192.0.2.1',
      '192.88.99.1',
      '198.18.0.1',
      '198.19.255.255',
      '198.51.100.1',
      '203.0.113.1',
      '224.0.0.1',
      '239.255.255.255',
      '240.0.0.1',
      '255.255.255.255',
      '::',
      '::7f00:1',
      '::ffff:127.0.0.1',
      '::ffff:7f00:1',
      '::ffff:8.8.8.8',
      '64:ff9b::a9fe:a9fe',
      '64:ff9b:1::a00:1',
      '100::1',
      '2001::1',
      '2001:db8::1',
      '2002:7f00:1::1',
      '3fff::1',
      'fe80::1',
      'fe80::1%eth0',
      'fec0::1',
      'ff02::1',
      '127.1',
      '0x7f000001',
      '2130706433',
      'localhost',
      '',
    ],
  ],
];

describe('an address', () => {
  it.each(table)('of the kind %s is known', (kind, addresses) => {
    expect(addresses.filter((address) => kindOfAddress(address) !== kind)).toEqual([]);
  });

  it('of this machine is known', () => {
    expect(['127.0.0.1', '127.9.9.9', '::1'].map(isLoopbackAddress)).toEqual([true, true, true]);
    const others = [
      '10.0.0.1',
      '128.0.0.1',
      '::2',
      '64:ff9b::7f00:1',
      '::ffff:127.0.0.1',
      'localhost',
      '',
    ];
    expect(others.filter(isLoopbackAddress)).toEqual([]);
  });
});
