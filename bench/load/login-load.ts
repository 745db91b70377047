/**
 * Browsers and their application, in a process of its own: each login is all of it, from the pushed
 * request over the pages, the robot's signature and the code to the ID token. So many logins in
 * flight, the next one as soon as one has ended.
 */
import { createHash, randomBytes } from 'node:crypto';
import { createHistogram } from 'node:perf_hooks';
import { createBrowser, formIn } from '../../test/oauth/browser-client.ts';
import { serveParent } from '../harness/program.ts';

export interface LoginLoad {
  /** `http://127.0.0.1:8080` */
  readonly origin: string;
  readonly inFlight: number;
  readonly durationMs: number;
}

export interface LoginLoadResult {
  readonly count: number;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

const authorization = `Basic ${Buffer.from('demo:demo-secret').toString('base64')}`;

const post = async (url: string, form: Record<string, string>): Promise<Record<string, string>> => {
  const response = await fetch(url, {
    method: 'POST',
    headers: { authorization },
    body: new URLSearchParams(form),
  });
  if (!response.ok) throw new Error(`${new URL(url).pathname} answered ${response.status}`);
  return (await response.json()) as Record<string, string>;
};

const logIn = async (origin: string): Promise<void> => {
  const redirectUri = `${origin}/demo/callback`;
  const verifier = randomBytes(32).toString('base64url');
  const { request_uri: requestUri = '' } = await post(`${origin}/oidc/par`, {
    response_type: 'code',
    client_id: 'demo',
    redirect_uri: redirectUri,
    scope: 'openid phone',
    state: randomBytes(16).toString('base64url'),
    nonce: randomBytes(16).toString('base64url'),
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    login_hint: JSON.stringify({ hints: [{ msisdn: '+41700092501', default: true }] }),
  });
  const browser = createBrowser({ origin });
  const query = new URLSearchParams({ client_id: 'demo', request_uri: requestUri });
  const asked = await browser.open(`/oidc/auth?${query}`);
  if (formIn(asked.html, 'number') === undefined) throw new Error(`The page was ${asked.status}`);
  const { left } = await browser.settle(
    await browser.submit(asked, 'number', { msisdn: '+41700092501' }),
  );
  const code = left?.searchParams.get('code');
  if (!code) throw new Error('The browser came back without a code');
  const tokens = await post(`${origin}/oidc/token`, {
    grant_type: 'authorization_code',
    code,
    redirect_uri: redirectUri,
    code_verifier: verifier,
  });
  if (!tokens.id_token) throw new Error('There is no ID token');
};

const run = async ({ origin, inFlight, durationMs }: LoginLoad): Promise<LoginLoadResult> => {
  const histogram = createHistogram();
  const begin = performance.now();
  const until = begin + durationMs;
  let last = begin;
  let count = 0;
  await Promise.all(
    Array.from({ length: inFlight }, async () => {
      while (last < until) {
        const started = performance.now();
        await logIn(origin);
        last = performance.now();
        count += 1;
        histogram.record(Math.max(1, Math.round((last - started) * 1000)));
      }
    }),
  );
  return {
    count,
    perSecond: count / ((last - begin) / 1000),
    p50Ms: histogram.percentile(50) / 1000,
    p99Ms: histogram.percentile(99) / 1000,
  };
};

serveParent(run);
