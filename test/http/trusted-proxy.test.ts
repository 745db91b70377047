/** From which address a request comes: as the socket says, or a proxy that is believed. */
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { createClientAddress } from '../../src/http/trusted-proxy.ts';

const incoming = (remoteAddress: string, forwarded?: string): IncomingMessage => {
  const socket = new Socket();
  Object.defineProperty(socket, 'remoteAddress', { value: remoteAddress });
  const message = new IncomingMessage(socket);
  if (forwarded !== undefined) message.headers['x-forwarded-for'] = forwarded;
  return message;
};

const proxy = '10.0.0.1';
const addressOf = createClientAddress({ addresses: [proxy, '2001:db8:ffff::/48'] });

describe('the address of a caller', () => {
  it.each([
    ['192.0.2.7', '192.0.2.7'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8::/64'],
    ['::1', '::/64'],
    ['fe80::1:2%eth0', 'fe80::/64'],
  ])('%s counts as %s', (remote, expected) => {
    expect(addressOf(incoming(remote))).toBe(expected);
  });

  it('is the same for all addresses of an IPv6 network, and another one for the next', () => {
    const [one, same, next] = ['2001:db8:0:a::1', '2001:db8:0:a:ffff::', '2001:db8:0:b::1'].map((remote) =>
      addressOf(incoming(remote)),
    );
    expect(same).toBe(one);
    expect(next).not.toBe(one);
  });

  it('is empty without a socket', () => {
    expect(addressOf(undefined)).toBe('');
  });
});

describe('the address that a proxy passes on', () => {
  it.each([
    ['192.0.2.7', '192.0.2.7'],
    ['192.0.2.7:51234', '192.0.2.7'],
    ['198.51.100.1, 192.0.2.7 ', '192.0.2.7'],
    ['2001:DB8:1:2::9', '2001:db8:1:2::/64'],
    ['[2001:db8:1:2::9]', '2001:db8:1:2::/64'],
    ['[2001:db8:1:2::9]:443', '2001:db8:1:2::/64'],
    ['2001:0db8:0001:0002:0:0:0:9', '2001:db8:1:2::/64'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['::ffff:c000:207', '192.0.2.7'],
    ['[::ffff:192.0.2.7]:443', '192.0.2.7'],
  ])('%s counts as %s', (forwarded, expected) => {
    expect(addressOf(incoming(proxy, forwarded))).toBe(expected);
    expect(addressOf(incoming(`::ffff:${proxy}`, forwarded))).toBe(expected);
  });

  it.each([
    [''],
    [','],
    ['unknown'],
    ['_hidden'],
    ['192.0.2.7, '],
    ['192.0.2.256'],
    ['192.0.2.7:x'],
    ['192.0.2'],
    ['[192.0.2.7'],
    ['[2001:db8::1'],
    ['[nowhere]:443'],
    ['2001:db8::1::2'],
    ['1:2:3:4:5:6:7:8:9'],
    ['0x7f.1'],
    ['a/b@c'],
    ['x'.repeat(60)],
  ])('is the proxy’s own when it is none: %s', (forwarded) => {
    expect(addressOf(incoming(proxy, forwarded))).toBe(proxy);
    expect(addressOf(incoming('2001:db8:ffff::1', forwarded))).toBe('2001:db8:ffff::/64');
  });

  it('is not believed when it comes from somebody else, or when there is no proxy', () => {
    expect(addressOf(incoming('192.0.2.9', '192.0.2.7'))).toBe('192.0.2.9');
    expect(createClientAddress(undefined)(incoming(proxy, '192.0.2.7'))).toBe(proxy);
  });
});
