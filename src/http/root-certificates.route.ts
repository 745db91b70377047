/**
 * The roots of all signatures, as PEM, for everybody. A root is only as trustworthy as the
 * connection it came over: relying parties fetch it once, compare its fingerprint by another way,
 * and keep the file.
 */
import { X509Certificate } from 'node:crypto';
import { Hono } from 'hono';
import type { HttpEnvironment } from './body.ts';
import type { HttpLog } from './log.ts';

export interface RootCertificatesOptions {
  /** DER. @throws When the store of keys is unreachable. */
  readonly trust: () => Promise<readonly Uint8Array[]>;
  readonly log: Pick<HttpLog, 'trouble'>;
}

const toPem = (der: Uint8Array): string => new X509Certificate(der).toString();

export const createRootCertificateRoutes = ({
  trust,
  log,
}: RootCertificatesOptions): Hono<HttpEnvironment> => {
  const routes = new Hono<HttpEnvironment>();
  routes.get('/pki/root.pem', async (c) => {
    try {
      const pem = (await trust()).map(toPem).join('');
      return c.body(pem, 200, { 'content-type': 'application/x-pem-file' });
    } catch (error) {
      log.trouble(error instanceof Error ? error : new Error(String(error)));
      return c.text('The keys are out of reach\n', 503);
    }
  });
  return routes;
};
