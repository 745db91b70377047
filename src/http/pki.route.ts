/**
 * The root certificates for verifying signatures, as PEM.
 *
 * They are public. A root is only as trustworthy as the connection it came over: relying parties
 * fetch it once, compare its fingerprint by another way, and keep the file.
 */
import { X509Certificate } from 'node:crypto';
import { Hono } from 'hono';
import type { HttpLog } from './log.ts';

export interface PkiRoutesOptions {
  /** DER. @throws When the store of keys is unreachable. */
  readonly trust: () => Promise<readonly Uint8Array[]>;
  readonly log: HttpLog;
}

const toPem = (der: Uint8Array): string => new X509Certificate(der).toString();

export const createPkiRoutes = ({ trust, log }: PkiRoutesOptions): Hono => {
  const routes = new Hono();
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
