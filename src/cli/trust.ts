/**
 * The roots in which a signature's certificates must end, and where they came from.
 *
 * A file that the user names is trusted because the user says so. Without one there is only the root that the service
 * itself hands out. That is right for a sandbox and for a first look, and it proves no more than that the signature
 * fits this service: whoever could put up a false service could hand out a false root as well. So the origin is
 * carried along and is said with every result.
 */
import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { verifySignature } from '../pki/verify.ts';
import { answerIn, type Connection } from './connection.ts';
import { UsageProblem } from './context.ts';
import type { Field } from './screen.ts';

export interface Trust {
  /** DER. */
  readonly certificates: readonly Uint8Array[];
  readonly source: 'file' | 'service';
  /** The file's path, or the URL. */
  readonly from: string;
}

const pemBlock = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** @returns Undefined when there is none, or one that the verifier cannot use. */
const readPem = (pem: string): readonly Uint8Array[] | undefined => {
  const blocks = pem.match(pemBlock) ?? [];
  if (blocks.length === 0) return undefined;
  try {
    const certificates = blocks.map((block) => Uint8Array.from(new X509Certificate(block).raw));
    // The verifier has its own idea of a sound certificate: ask it before a person is asked to sign.
    verifySignature(new Uint8Array(), '', { trust: certificates });
    return certificates;
  } catch {
    return undefined;
  }
};

const trustOfFile = async (path: string): Promise<Trust> => {
  const pem = await readFile(path, 'latin1').catch(() => {
    throw new UsageProblem('The file that --trust names cannot be read.');
  });
  const certificates = readPem(pem);
  if (certificates === undefined) {
    throw new UsageProblem('The file that --trust names has no usable certificate (PEM).');
  }
  return { certificates, source: 'file', from: path };
};

/**
 * @param goesOn Said on Ctrl-C.
 * @throws Ended Without a usable root, or when the service does not answer.
 */
export const obtainTrust = async (
  connection: Connection,
  file: string | undefined,
  goesOn: string,
): Promise<Trust> => {
  if (file !== undefined) return trustOfFile(file);
  const certificates = readPem(
    answerIn(connection, await connection.client.rootCertificates(), goesOn) ?? '',
  );
  if (certificates === undefined) {
    throw new UsageProblem('The service offers no root certificate: name the one you trust with --trust.');
  }
  return { certificates, source: 'service', from: `${connection.url}/pki/root.pem` };
};

const fingerprint = (der: Uint8Array): string => new X509Certificate(der).fingerprint256;

export const trustDocument = ({ certificates, source, from }: Trust) => ({
  source,
  from,
  fingerprints: certificates.map(fingerprint),
});

export const trustFields = ({ certificates, source, from }: Trust): readonly Field[] => [
  ['trust', source === 'file' ? from : `the service's own root, ${from}`],
  // A space in the middle, where the line may be broken.
  ...certificates.map((der): Field => ['SHA-256', fingerprint(der).replace(/^(.{47}):/, '$1: ')]),
  ...(source === 'file'
    ? []
    : [
        [
          '',
          'Nothing but this connection vouches for that root. Compare its fingerprint, keep the file and name it with --trust.',
        ] as const,
      ]),
];
