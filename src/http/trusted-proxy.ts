/**
 * A proxy in front, believed only when a request really comes from its address.
 */
import type { IncomingMessage } from 'node:http';
import { BlockList, isIPv4, isIPv6 } from 'node:net';

const allowListOf = (addresses: readonly string[]): BlockList => {
  const list = new BlockList();
  for (const entry of addresses) {
    const [address = '', bits] = entry.split('/');
    const family = isIPv6(address) ? 'ipv6' : 'ipv4';
    if (bits === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(bits), family);
  }
  return list;
};

/** An IPv4 caller on a dual-stack socket shows up as `::ffff:192.0.2.1`. */
const plain = (remote: string): string => remote.replace(/^::ffff:(?=\d+\.)/, '');

/** @param addresses Addresses or CIDR ranges. */
export const createAddressList = (
  addresses: readonly string[],
): ((remote: string | undefined) => boolean) => {
  const list = allowListOf(addresses);
  return (remote) => {
    if (remote === undefined) return false;
    const address = plain(remote);
    return list.check(address, isIPv4(address) ? 'ipv4' : 'ipv6');
  };
};

/** @returns The eight groups of an IPv6 address, in lower case and without leading zeros. */
const groupsOf = (address: string): readonly string[] => {
  // The URL parser writes the address in its canonical form (RFC 5952), in which `::` stands once at most.
  const canonical = new URL(`http://[${address}]/`).hostname.slice(1, -1);
  const [left = [], right = []] = canonical.split('::').map((part) => part.split(':').filter(Boolean));
  return [...left, ...Array<string>(8 - left.length - right.length).fill('0'), ...right];
};

/**
 * What counts as one caller. An IPv6 subscriber has a /64 at least and an address for each request if he likes; so the
 * network counts, and `2001:db8:1:2::/64` is its name. IPv4 within IPv6 is IPv4.
 */
const callerOf = (address: string): string | undefined => {
  if (isIPv4(address)) return address;
  const [withoutZone = ''] = address.split('%', 1);
  if (!isIPv6(withoutZone)) return undefined;
  const groups = groupsOf(withoutZone);
  if (groups.slice(0, 6).join(':') === '0:0:0:0:0:ffff') {
    const [high = 0, low = 0] = groups.slice(6).map((group) => Number.parseInt(group, 16));
    return [high >> 8, high & 255, low >> 8, low & 255].join('.');
  }
  const network = new URL(`http://[${groups.slice(0, 4).join(':')}::]/`).hostname.slice(1, -1);
  return `${network}/64`;
};

/** `192.0.2.1`, `192.0.2.1:443`, `2001:db8::1`, `[2001:db8::1]`, `[2001:db8::1]:443`; proxies write all of them. */
const withoutPort = (entry: string): string => {
  const [, bracketed, dotted] = /^(?:\[([^\]]*)\]|(\d+\.\d+\.\d+\.\d+))(?::\d{1,5})?$/.exec(entry) ?? [];
  return bracketed ?? dotted ?? entry;
};

/**
 * From which address a request comes, for limits. Behind a trusted proxy that is the last entry of X-Forwarded-For, which the
 * proxy itself has appended; what stands before it is the client's own word. An entry that is no address counts as the
 * proxy's: free text would give whoever can write it a new name for each request.
 *
 * @returns An IPv4 address, or an IPv6 network; empty without a socket.
 */
export const createClientAddress = (
  proxy: { readonly addresses: readonly string[] } | undefined,
): ((incoming: IncomingMessage | undefined) => string) => {
  const isProxy = proxy === undefined ? () => false : createAddressList(proxy.addresses);
  return (incoming) => {
    const remote = incoming?.socket?.remoteAddress;
    if (remote === undefined) return '';
    const forwarded = isProxy(remote) ? String(incoming?.headers['x-forwarded-for'] ?? '') : '';
    const last = forwarded.split(',').at(-1) ?? '';
    return callerOf(withoutPort(last.trim())) ?? callerOf(remote) ?? remote;
  };
};
