/**
 * The addresses that callbacks may be sent to. A callback leaves from inside the operator's
 * network, so it must not reach internal hosts, whatever its host name resolves to when it is sent.
 *
 * public    Any. An address that is not known to be public is not.
 * internal  Private, loopback, shared (CGNAT) and unique local: for hosts that the operator listed.
 * never     Link-local, where clouds keep credentials, multicast, broadcast, unspecified, reserved.
 *
 * Source: IANA special-purpose address registries (RFC 6890 and its updates).
 */
import { BlockList, isIPv4, isIPv6 } from 'node:net';

export type AddressKind = 'public' | 'internal' | 'never';

const internalIpv4 = [
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
] as const;

const neverIpv4 = [
  ['0.0.0.0', 8],
  ['169.254.0.0', 16],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
] as const;

const internalIpv6 = [
  ['::1', 128],
  ['fc00::', 7],
] as const;

/** Parts of the global range that hold IPv4 addresses (6to4, Teredo) or are unassigned. */
const neverIpv6 = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
] as const;

/** Translated to the IPv4 address in its last 32 bits (RFC 6052), so judged by that. */
const nat64 = '64:ff9b::';

type Ranges = readonly (readonly [network: string, bits: number])[];

const listOf = (ipv4: Ranges, ipv6: Ranges): BlockList => {
  const list = new BlockList();
  for (const [network, bits] of ipv4) {
    list.addSubnet(network, bits, 'ipv4');
    list.addSubnet(`${nat64}${network}`, 96 + bits, 'ipv6');
  }
  for (const [network, bits] of ipv6) list.addSubnet(network, bits, 'ipv6');
  return list;
};

const internal = listOf(internalIpv4, internalIpv6);
const never = listOf(neverIpv4, neverIpv6);
const known = listOf(
  [],
  [
    ['2000::', 3],
    [nat64, 96],
  ],
);
const mapped = listOf([], [['::ffff:0:0', 96]]);

export const kindOfAddress = (address: string): AddressKind => {
  if (isIPv4(address)) {
    if (never.check(address, 'ipv4')) return 'never';
    return internal.check(address, 'ipv4') ? 'internal' : 'public';
  }
  // An address with a zone is link-local.
  if (!isIPv6(address) || address.includes('%') || mapped.check(address, 'ipv6')) return 'never';
  if (never.check(address, 'ipv6')) return 'never';
  if (internal.check(address, 'ipv6')) return 'internal';
  return known.check(address, 'ipv6') ? 'public' : 'never';
};
