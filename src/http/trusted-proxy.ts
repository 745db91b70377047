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

/**
 * From which address a request comes, for limits. Behind a trusted proxy that is the last entry of X-Forwarded-For, which the
 * proxy itself has appended; what stands before it is the client's own word.
 */
export const createClientAddress = (
  proxy: { readonly addresses: readonly string[] } | undefined,
): ((incoming: IncomingMessage | undefined) => string) => {
  const isProxy = proxy === undefined ? () => false : createAddressList(proxy.addresses);
  return (incoming) => {
    const remote = incoming?.socket?.remoteAddress;
    if (remote === undefined) return '';
    const forwarded = isProxy(remote) ? String(incoming?.headers['x-forwarded-for'] ?? '') : '';
    return forwarded.split(',').at(-1)?.trim() || plain(remote);
  };
};
