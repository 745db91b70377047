/**
 * Which certificate the caller's connection proved: our own TLS saw it, or a proxy in front did and says so in a header.
 *
 * The header is believed only from the proxy's address; from anybody else it is a forgery and ignored. Three ways of
 * writing it are understood: a SHA-256 fingerprint in hex, a URL-encoded PEM certificate (nginx), and an Envoy
 * X-Forwarded-Client-Cert with `Hash=`.
 */
import { X509Certificate } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { BlockList, isIPv4, isIPv6 } from 'node:net';
import { TLSSocket } from 'node:tls';
import type { Evidence } from './operation.ts';

export interface TrustedProxy {
  /** Addresses or CIDR ranges. */
  readonly addresses: readonly string[];
  readonly clientCertificateHeader: string;
}

const normalised = (fingerprint: string): string => fingerprint.replaceAll(':', '').toLowerCase();

/**
 * A text in quotes, which is the client's own choice, its subject above all. One that is never closed reaches to the end:
 * what follows is part of it, and looking for its end from every later quote would take time that grows with the square.
 */
const quoted = /"(?:[^"\\]|\\.?)*(?:"|$)/g;

const envoyHash = /(?:^|[;,])\s*hash=([0-9a-f]{64})(?![0-9a-f])/gi;

const fingerprintIn = (header: string): string | undefined => {
  const [hash, ...others] = header.replaceAll(quoted, '').matchAll(envoyHash);
  // A second one means that somebody appended to what somebody else wrote, perhaps the client.
  if (hash !== undefined) return others.length === 0 ? hash[1]?.toLowerCase() : undefined;
  const bare = normalised(header.trim());
  if (/^[0-9a-f]{64}$/.test(bare)) return bare;
  try {
    return normalised(new X509Certificate(decodeURIComponent(header)).fingerprint256);
  } catch {
    return undefined;
  }
};

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
const isFrom = (list: BlockList, remote: string): boolean => {
  const address = remote.replace(/^::ffff:(?=\d+\.)/, '');
  return list.check(address, isIPv4(address) ? 'ipv4' : 'ipv6');
};

export const createEvidence = (
  proxy: TrustedProxy | undefined,
): ((incoming: IncomingMessage | undefined) => Evidence) => {
  const trusted = proxy === undefined ? undefined : allowListOf(proxy.addresses);
  const header = proxy?.clientCertificateHeader.toLowerCase() ?? '';
  return (incoming) => {
    const socket = incoming?.socket;
    if (socket instanceof TLSSocket && socket.authorized) {
      const { fingerprint256 } = socket.getPeerCertificate();
      if (fingerprint256) return { clientCertificateFingerprint: normalised(fingerprint256) };
    }
    const remote = socket?.remoteAddress;
    const value = incoming?.headers[header];
    if (
      trusted !== undefined &&
      remote !== undefined &&
      isFrom(trusted, remote) &&
      typeof value === 'string'
    ) {
      return { clientCertificateFingerprint: fingerprintIn(value) };
    }
    return { clientCertificateFingerprint: undefined };
  };
};
