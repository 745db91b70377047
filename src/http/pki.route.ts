/**
 * The root certificates that a verifier of our signatures must trust, as PEM, one after the other.
 *
 * They are public, so nobody is asked who they are. But a root that came over the wire is worth no more than the
 * connection it came over: whoever relies on signatures fetches it once, compares its fingerprint by another way, and
 * keeps the file.
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
