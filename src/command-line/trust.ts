/**
 * The trusted root certificates, and where they came from.
 *
 * A file that the user names is trusted. Without one there is only the root from the service
 * itself. It is good enough for a sandbox, but proves only that the signature fits this service: a
 * false service could send a false root as well. Therefore every result names the origin of its
 * root.
 */
import { X509Certificate } from 'node:crypto';
import { usableRoots } from '../../packages/pki/src/roots.ts';
import { answerIn, type Connection } from './connection.ts';
import { UsageError } from './context.ts';
import { readNamed } from './named-file.ts';
import type { Field } from './screen.ts';

export interface Trust {
  /** DER. */
  readonly certificates: readonly Uint8Array[];
  readonly source: 'file' | 'service';
  /** The file's path, or the URL. */
  readonly from: string;
}

/** @param option That names the file. @throws UsageError */
export const readTrustFile = async (path: string, option = '--trust'): Promise<Trust> => {
  const certificates = usableRoots(await readNamed(path, `The file that ${option} names`));
  if (certificates === undefined) {
    throw new UsageError(`The file that ${option} names has no usable certificate (PEM).`);
  }
  return { certificates, source: 'file', from: path };
};

/**
 * @param goesOn The error on Ctrl-C.
 * @throws CommandEnd without a usable root, or when the service does not answer.
 */
export const obtainTrust = async (
  connection: Connection,
  file: string | undefined,
  goesOn: string,
): Promise<Trust> => {
  if (file !== undefined) return readTrustFile(file);
  const reply = await connection.client.rootCertificates();
  const certificates = usableRoots(answerIn(connection, reply, goesOn) ?? '');
  if (certificates === undefined) {
    throw new UsageError(
      'The service offers no root certificate: name the one you trust with --trust.',
    );
  }
  return { certificates, source: 'service', from: `${connection.url}/pki/root.pem` };
};

const fingerprint = (der: Uint8Array): string => new X509Certificate(der).fingerprint256;

export const trustDocument = ({ certificates, source, from }: Trust) => ({
  source,
  from,
  fingerprints: certificates.map(fingerprint),
});

const compareRoot =
  'Nothing but this connection vouches for that root. Compare its fingerprint, keep the file and name it with --trust.';

export const trustFields = ({ certificates, source, from }: Trust): readonly Field[] => [
  ['trust', source === 'file' ? from : `the service's own root, ${from}`],
  // A space in the middle, where the line may be broken.
  ...certificates.map((der): Field => ['SHA-256', fingerprint(der).replace(/^(.{47}):/, '$1: ')]),
  ['', source === 'file' ? undefined : compareRoot],
];
