/**
 * What verifiers of signatures fetch: the certificate and the list of revoked certificates of each
 * authority, OCSP answers (RFC 6960 appendix A), and time stamps (RFC 3161 3.4). All of it is
 * public and signed.
 */
import type { IncomingMessage } from 'node:http';
import { type Context, Hono } from 'hono';
import type { HttpEnvironment } from '../../src/http/body.ts';
import type { HttpLog } from '../../src/http/log.ts';
import { readBody } from '../../src/http/pages/request-body.ts';
import type { AskTimeStamp } from './long-term.ts';
import type { Publisher } from './publisher.ts';

export interface PkiRoutesOptions {
  /** Throws when the store of keys is unreachable, and so do the others. */
  readonly publisher: Publisher;
  /** Answers requests for time stamps. */
  readonly timeStamps: AskTimeStamp;
  /** The seconds after which this caller may ask for a signature; 0 is now. */
  readonly wait: (incoming: IncomingMessage | undefined) => Promise<number>;
  readonly log: Pick<HttpLog, 'trouble'>;
}

type PkiContext = Context<HttpEnvironment>;

/** What is revoked shall be known soon, so it is not kept as long as it is good for. */
const cacheControl = 'public, max-age=300';

const maxRequest = { maxBytes: 8192, timeoutMs: 5000 } as const;

const signed = (
  bytes: Uint8Array,
  type: string,
  more: Readonly<Record<string, string>> = {},
): Response =>
  new Response(Uint8Array.from(bytes), {
    headers: { 'content-type': type, 'cache-control': cacheControl, ...more },
  });

export const createPkiRoutes = ({
  publisher,
  timeStamps,
  wait,
  log,
}: PkiRoutesOptions): Hono<HttpEnvironment> => {
  const routes = new Hono<HttpEnvironment>();

  const orUnreachable = async (c: PkiContext, work: () => Promise<Response>): Promise<Response> => {
    try {
      return await work();
    } catch (error) {
      log.trouble(error instanceof Error ? error : new Error(String(error)));
      return c.text('The keys are out of reach\n', 503);
    }
  };

  const limited = (c: PkiContext, work: () => Promise<Response>): Promise<Response> =>
    orUnreachable(c, async () => {
      const seconds = await wait(c.env?.incoming);
      if (seconds === 0) return work();
      return c.text('Too many requests: try again later\n', 429, {
        'retry-after': String(seconds),
      });
    });

  const answerOcsp = async (request: Uint8Array): Promise<Response> =>
    signed(await publisher.ocspAnswer(request), 'application/ocsp-response');

  routes.get('/pki/:file{(?:root|issuing)-[0-9]{1,4}\\.(?:crl|cer)}', (c) =>
    orUnreachable(c, async () => {
      const [id = '', kind] = c.req.param('file').split('.');
      const isList = kind === 'crl';
      const der = await (isList ? publisher.revocationList(id) : publisher.certificate(id));
      if (der === undefined) return c.text('There is no such authority\n', 404);
      return signed(der, isList ? 'application/pkix-crl' : 'application/pkix-cert');
    }),
  );

  const withBody = (
    c: PkiContext,
    work: (body: Uint8Array) => Promise<Response>,
  ): Promise<Response> =>
    limited(c, async () => {
      const body = await readBody(c.req.raw, c.env?.incoming, maxRequest);
      return body.ok ? work(body.bytes) : c.text('The request is too large or incomplete\n', 413);
    });

  routes.post('/pki/ocsp', (c) => withBody(c, answerOcsp));

  routes.post('/pki/tsa', (c) =>
    withBody(c, async (body) =>
      signed(await timeStamps(body), 'application/timestamp-reply', {
        'cache-control': 'no-store',
      }),
    ),
  );

  // Base64 may have slashes, which clients escape or not.
  routes.get('/pki/ocsp/:request{.+}', (c) =>
    limited(c, () => answerOcsp(Buffer.from(c.req.param('request').slice(0, 4096), 'base64'))),
  );

  return routes;
};
