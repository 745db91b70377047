/** Trusted proxies: their headers count only when a request comes from their address. */
import type { IncomingMessage } from 'node:http';
import { BlockList, isIPv4, isIPv6 } from 'node:net';
import {
  convertIPv4BinaryToString,
  convertIPv4MappedIPv6ToIPv4,
  convertIPv6BinaryToString,
  convertIPv6ToBinary,
  isIPv4MappedIPv6,
} from 'hono/utils/ipaddr';
import type { Source } from '../registry/rate-limiter.ts';

/** Removes the prefix of an IPv4 address on a dual-stack socket: `::ffff:192.0.2.1`. */
const plain = (remote: string): string => remote.replace(/^::ffff:(?=\d+\.)/, '');

/** @param addresses Addresses or CIDR ranges. */
export const createAddressList = (
  addresses: readonly string[] = [],
): ((remote: string | undefined) => boolean) => {
  if (addresses.length === 0) return () => false;
  const list = new BlockList();
  for (const entry of addresses) {
    const [address = '', bits] = entry.split('/');
    const family = isIPv6(address) ? 'ipv6' : 'ipv4';
    if (bits === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(bits), family);
  }
  return (remote) => {
    if (remote === undefined) return false;
    const address = plain(remote);
    return list.check(address, isIPv4(address) ? 'ipv4' : 'ipv6');
  };
};

/**
 * The caller behind an address: an IPv4 address or, because each subscriber has at least that, an
 * IPv6 /64 network. Undefined for a text that is not an address.
 */
const callerOf = (address: string): string | undefined => {
  if (isIPv4(address)) return address;
  const [withoutZone = ''] = address.split('%', 1);
  if (!isIPv6(withoutZone)) return undefined;
  const bits = convertIPv6ToBinary(withoutZone);
  return isIPv4MappedIPv6(bits)
    ? convertIPv4BinaryToString(convertIPv4MappedIPv6ToIPv4(bits))
    : `${convertIPv6BinaryToString((bits >> 64n) << 64n)}/64`;
};

/** Removes the port from `192.0.2.1:443` or `[2001:db8::1]:443`, as proxies write addresses. */
const withoutPort = (entry: string): string => {
  const [, bracketed, dotted] =
    /^(?:\[([^\]]*)\]|(\d+\.\d+\.\d+\.\d+))(?::\d{1,5})?$/.exec(entry) ?? [];
  return bracketed ?? dotted ?? entry;
};

/** Headers that proxies add. */
const forwarding = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip', 'via'];

/** Whether a request claims to be forwarded. Any client can claim that. */
export const isForwarded = (incoming: IncomingMessage | undefined): boolean =>
  forwarding.some((name) => incoming?.headers[name] !== undefined);

interface ProxyAddresses {
  readonly addresses: readonly string[];
}

/**
 * The source of a request, for limits. Behind trusted proxies that is the last entry of
 * X-Forwarded-For that is not one of them: each proxy appends its caller, and earlier entries are
 * the client's own claim. An entry that is not an address is ignored, because free text would be a
 * new name for each request. Without configured proxies these headers are ignored.
 *
 * An untrusted address that forwards is an unknown proxy or a client that pretends to be one. As a
 * proxy it is many callers and must not count as one; as a client it can write any entry, so the
 * entry alone must not be believed. A trusted proxy that names no caller is many callers too.
 *
 * The first result for a request is kept, because `oauth/mount.ts` replaces its headers.
 *
 * @returns An empty caller without a socket.
 */
export const createClientAddress = (
  proxy: ProxyAddresses | undefined,
): ((incoming: IncomingMessage | undefined) => Source) => {
  const isTrusted = createAddressList(proxy?.addresses);
  const isWithout = proxy?.addresses.length === 0;
  const sourceOf = (incoming: IncomingMessage): Source => {
    const remote = incoming.socket?.remoteAddress;
    if (remote === undefined) return { caller: '' };
    const address = callerOf(remote) ?? remote;
    const trusted = isTrusted(remote);
    if (isWithout || (!trusted && !isForwarded(incoming))) return { caller: address };
    const entries = String(incoming.headers['x-forwarded-for'] ?? '')
      .split(',')
      .map((entry) => withoutPort(entry.trim()));
    const said = callerOf(
      (trusted ? entries.findLast((entry) => !isTrusted(entry)) : entries.at(-1)) ?? '',
    );
    if (trusted && said !== undefined) return { caller: said };
    return { caller: said === undefined ? undefined : `${address} for ${said}`, sharedBy: address };
  };
  const known = new WeakMap<IncomingMessage, Source>();
  return (incoming) => {
    if (incoming === undefined) return { caller: '' };
    const source = known.get(incoming) ?? sourceOf(incoming);
    known.set(incoming, source);
    return source;
  };
};

const tellEveryMs = 60_000;
const maxRemembered = 1000;

/**
 * Reports untrusted addresses that forward: each once, and one a minute, because any client can
 * write such a header.
 */
export const createForwardingWatch = ({
  proxy,
  now,
  tell,
}: {
  readonly proxy: ProxyAddresses | undefined;
  readonly now: () => number;
  readonly tell: (address: string) => void;
}): ((incoming: IncomingMessage | undefined) => void) => {
  const isTrusted = createAddressList(proxy?.addresses);
  /** Addresses that need no report any more. */
  const settled = new Set<string>();
  let toldAt = Number.NEGATIVE_INFINITY;
  return (incoming) => {
    const remote = incoming?.socket?.remoteAddress;
    if (proxy?.addresses.length === 0) return;
    if (remote === undefined || !isForwarded(incoming) || settled.has(remote)) return;
    const trusted = isTrusted(remote);
    if (!trusted && now() - toldAt < tellEveryMs) return;
    if (settled.size >= maxRemembered) settled.clear();
    settled.add(remote);
    if (trusted) return;
    toldAt = now();
    tell(plain(remote));
  };
};
