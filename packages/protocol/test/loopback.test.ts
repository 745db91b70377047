import { describe, expect, it } from 'vitest';
import { isLoopbackAddress, isLoopbackHost } from '../src/loopback.ts';

const addresses = ['127.0.0.1', '127.9.9.9', '::1', '0:0:0:0:0:0:0:1', '::ffff:127.0.0.1'];
const others = [
  '',
  '0.0.0.0',
  '10.0.0.1',
  '126.255.255.255',
  '128.0.0.1',
  '127.1',
  '127.0.0.1.example.com',
  '::',
  '::2',
  '::1%eth0',
  '::ffff:10.0.0.1',
  '64:ff9b::7f00:1',
  'fe80::1',
];

describe('this machine', () => {
  it('is its addresses, also as a socket for both families writes them', () => {
    expect(addresses.filter(isLoopbackAddress)).toEqual(addresses);
    expect(others.filter(isLoopbackAddress)).toEqual([]);
  });

  it('is every name below localhost and every address, as a URL writes them', () => {
    const hosts = ['localhost', 'LOCALHOST', 'localhost.', 'shop.localhost', '[::1]', '127.0.0.1.'];
    expect([...hosts, ...addresses].filter((host) => !isLoopbackHost(host))).toEqual([]);
  });

  it('is no name that only begins or ends like one', () => {
    const names = [
      '127.example.com',
      'localhost.example.com',
      'notlocalhost',
      'local-host',
      '[::2]',
      'example.com',
    ];
    expect([...names, ...others].filter(isLoopbackHost)).toEqual([]);
  });
});
