/**
 * The client certificate of the connection: our own TLS saw it, or a proxy in front saw it and says
 * so in a header.
 *
 * An application is known by the fingerprint of its certificate, and the handshake proves that the
 * client has the key. Issuer and validity are not checked: many certificates are self-signed, and
 * two of one customer may have the same subject, of which a chain finds only one.
 *
 * The header is believed only from the proxy's address, and counts there also where the proxy shows
 * a certificate of its own to us. It may hold a SHA-256 fingerprint in hex, a URL-encoded PEM
 * certificate (nginx), or an Envoy X-Forwarded-Client-Cert with `Hash=`.
 */
import type { IncomingMessage } from 'node:http';
import { TLSSocket } from 'node:tls';
import { certificateIn, namesItsCurve } from '../../packages/pki/src/pem.ts';
import type { Evidence } from '../registry/application-providers.ts';
import { createAddressList } from './trusted-proxy.ts';

interface TrustedProxy {
  /** Addresses or CIDR ranges. */
  readonly addresses: readonly string[];
  readonly clientCertificateHeader: string;
}

const normalised = (fingerprint: string): string => fingerprint.replaceAll(':', '').toLowerCase();

/**
 * Quoted text, which the client chooses, such as its subject. An unclosed quote reaches to the end
 * of the header: looking for its end from every later quote would take quadratic time.
 */
const quoted = /"(?:[^"\\]|\\.?)*(?:"|$)/g;

const envoyHash = /(?:^|[;,])\s*hash=([0-9a-f]{64})(?![0-9a-f])/gi;

const fingerprintIn = (header: string): string | undefined => {
  const [hash, ...others] = header.replaceAll(quoted, '').matchAll(envoyHash);
  // A second hash means that a header was appended to another one, perhaps to one from the client.
  if (hash !== undefined) return others.length === 0 ? hash[1]?.toLowerCase() : undefined;
  const bare = normalised(header.trim());
  if (/^[0-9a-f]{64}$/.test(bare)) return bare;
  try {
    return normalised(certificateIn(decodeURIComponent(header)).fingerprint256);
  } catch {
    return undefined;
  }
};

export const createEvidence = (
  proxy: TrustedProxy | undefined,
): ((incoming: IncomingMessage | undefined) => Evidence) => {
  const isTrusted = createAddressList(proxy?.addresses);
  const header = proxy?.clientCertificateHeader.toLowerCase() ?? '';
  return (incoming) => {
    const socket = incoming?.socket;
    const value = incoming?.headers[header];
    if (isTrusted(socket?.remoteAddress) && typeof value === 'string') {
      return { clientCertificateFingerprint: fingerprintIn(value) };
    }
    // Undefined without a certificate, and on a closed connection.
    const certificate = socket instanceof TLSSocket ? socket.getPeerX509Certificate() : undefined;
    const isUsable = certificate !== undefined && namesItsCurve(certificate.publicKey);
    return {
      clientCertificateFingerprint: isUsable ? normalised(certificate.fingerprint256) : undefined,
    };
  };
};
