/**
 * Whether an address is this machine itself. One rule for all: who may read metrics, which
 * addresses may be http, where a password may go unencrypted, what a sandbox may call.
 *
 * Source: RFC 6761 6.3 (`localhost`), RFC 6890 (127.0.0.0/8, ::1).
 */
import { BlockList, isIP } from 'node:net';

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

/**
 * @param address An address in the form of a socket, without brackets. IPv4 may be written as
 *   `::ffff:127.0.0.1`, as a socket for both families does.
 */
export const isLoopbackAddress = (address: string): boolean => {
  const version = isIP(address);
  // An address with a zone is link-local.
  if (version === 0 || address.includes('%')) return false;
  return loopback.check(address, version === 4 ? 'ipv4' : 'ipv6');
};

/** @param host A name or address, such as the `hostname` of a URL. Names are not resolved. */
export const isLoopbackHost = (host: string): boolean => {
  const name = host.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');
  return /^(?:.+\.)?localhost$/i.test(name) || isLoopbackAddress(name);
};
