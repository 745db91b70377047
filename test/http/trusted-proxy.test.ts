/** From which address a request comes: as the socket says, or a proxy that is believed. */
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { createClientAddress, createForwardingWatch } from '../../src/http/trusted-proxy.ts';

const incoming = (remoteAddress: string, forwarded?: string): IncomingMessage => {
  const socket = new Socket();
  Object.defineProperty(socket, 'remoteAddress', { value: remoteAddress });
  const message = new IncomingMessage(socket);
  if (forwarded !== undefined) message.headers['x-forwarded-for'] = forwarded;
  return message;
};

const proxy = '10.0.0.1';
const sourceOf = createClientAddress({ addresses: [proxy, '2001:db8:ffff::/48'] });
const addressOf = (message: IncomingMessage | undefined) => sourceOf(message).caller;

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
    const [one, same, next] = ['2001:db8:0:a::1', '2001:db8:0:a:ffff::', '2001:db8:0:b::1'].map(
      (remote) => addressOf(incoming(remote)),
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
  ])('is nobody when it is none, and the proxy’s own is that of many: %s', (forwarded) => {
    expect(sourceOf(incoming(proxy, forwarded))).toEqual({ caller: undefined, sharedBy: proxy });
    const other = sourceOf(incoming('2001:db8:ffff::1', forwarded));
    expect(other).toEqual({ caller: undefined, sharedBy: '2001:db8:ffff::/64' });
  });

  it('is not believed when it comes from somebody else, or when there is no proxy', () => {
    const stranger = sourceOf(incoming('192.0.2.9', '192.0.2.7'));
    expect(stranger).toEqual({ caller: '192.0.2.9 for 192.0.2.7', sharedBy: '192.0.2.9' });
    const unknown = createClientAddress(undefined)(incoming(proxy, '192.0.2.7'));
    expect(unknown).toEqual({ caller: `${proxy} for 192.0.2.7`, sharedBy: proxy });
  });

  it.each(['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip', 'via'])(
    'makes an address that is not trusted one that many share: %s',
    (name) => {
      const message = incoming('192.0.2.9');
      message.headers[name] = 'anything';
      expect(sourceOf(message)).toEqual({ caller: undefined, sharedBy: '192.0.2.9' });
    },
  );

  it('stays the one of the request when its headers are replaced', () => {
    const message = incoming('192.0.2.9');
    const before = sourceOf(message);
    message.headers['x-forwarded-host'] = 'sign.example';
    expect(sourceOf(message)).toEqual(before);
  });
});

describe('several proxies in a row', () => {
  it.each([
    ['192.0.2.7, 10.0.0.1', '192.0.2.7'],
    ['198.51.100.1, 192.0.2.7, 10.0.0.1:443,[2001:db8:ffff::2]:80', '192.0.2.7'],
    ['10.0.0.1, 192.0.2.7, ::ffff:10.0.0.1', '192.0.2.7'],
    ['192.0.2.7, ::ffff:a00:1', '192.0.2.7'],
  ])('name the last one who is none of them: %s', (forwarded, expected) => {
    expect(sourceOf(incoming(proxy, forwarded))).toEqual({ caller: expected });
  });

  it.each(['10.0.0.1', '10.0.0.1, 2001:db8:ffff::2', '192.0.2.7, unknown, 10.0.0.1', ', 10.0.0.1'])(
    'are many callers when they name nobody else: %s',
    (forwarded) => {
      expect(sourceOf(incoming(proxy, forwarded))).toEqual({ caller: undefined, sharedBy: proxy });
    },
  );
});

describe('a configuration that says that there is no proxy', () => {
  const none = { addresses: [] };

  it.each(['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip', 'via'])(
    'makes who sends %s a caller like any other',
    (name) => {
      const message = incoming('192.0.2.9');
      message.headers[name] = '192.0.2.7';
      expect(createClientAddress(none)(message)).toEqual({ caller: '192.0.2.9' });
    },
  );

  it('has nothing to tell of', () => {
    const told: string[] = [];
    const look = createForwardingWatch({
      proxy: none,
      now: () => 0,
      tell: (address) => void told.push(address),
    });
    look(incoming('192.0.2.9', '192.0.2.7'));
    expect(told).toEqual([]);
  });
});

describe('an address that forwards and is not trusted', () => {
  const watch = () => {
    const told: string[] = [];
    const clock = { now: 0 };
    const look = createForwardingWatch({
      proxy: { addresses: [proxy] },
      now: () => clock.now,
      tell: (address) => void told.push(address),
    });
    return { told, clock, look };
  };

  it('is told of once', () => {
    const { told, clock, look } = watch();
    for (const minute of [0, 1, 2]) {
      clock.now = minute * 60_000;
      look(incoming('::ffff:192.0.2.9', '192.0.2.7'));
    }
    expect(told).toEqual(['192.0.2.9']);
  });

  it('is told of a minute after another one at the earliest', () => {
    const { told, clock, look } = watch();
    for (let host = 0; host < 100; host += 1) look(incoming(`192.0.2.${host}`, '192.0.2.7'));
    expect(told).toEqual(['192.0.2.0']);
    clock.now = 60_000;
    look(incoming('192.0.2.50', '192.0.2.7'));
    expect(told).toEqual(['192.0.2.0', '192.0.2.50']);
  });

  it('is none that is trusted, or that forwards nothing', () => {
    const { told, look } = watch();
    look(incoming(proxy, '192.0.2.7'));
    look(incoming('192.0.2.9'));
    look(undefined);
    expect(told).toEqual([]);
  });
});
