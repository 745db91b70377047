/** Steps 3 to 6, after the browser has come back, with the first two again for whoever went straight through. */
import { html } from 'hono/html';
import type { IdTokenFailure, IdTokenResult } from '../relying-party/index.ts';
import { layout } from './layout.ts';
import type { Fields } from './login.ts';
import { banner, exchangeBlocks, fieldsBlock, type Html, jsonBlock, step, words } from './markup.ts';
import type { Exchange } from './provider-calls.ts';
import { errorSentences, failedPage } from './pushed-page.ts';

/**
 * The checks of an ID token one by one. The library stops at the first that fails, and makes them in this order, so its
 * one reason says how all of them went.
 */
const checks = {
  form: 'It has three parts of strict base64url, and its header is JSON.',
  type: 'It is an ID token, and no other kind of token from the same key.',
  algorithm: 'It is signed with RS256, as this client expects.',
  keyId: 'Its header names the key (`kid`).',
  claims: 'It has all the claims that it must have, each of the right type.',
  issuer: '`iss` is this provider.',
  audience: '`aud` is this client.',
  time: 'It is valid now: `iat` has passed, `exp` has not.',
  signature: 'The signature is that of the named key in the provider’s key set.',
  nonce: '`nonce` is the one that this browser’s request carried.',
  subject: '`sub` is that of no other person than expected.',
  accessToken: '`at_hash` is that of the access token that came along.',
  level: '`acr` and `auth_time` are as asked for.',
} as const;

type CheckName = keyof typeof checks;

const checkOf: Readonly<Record<IdTokenFailure, CheckName>> = {
  malformed: 'form',
  'too-long': 'form',
  encrypted: 'form',
  'malformed-header': 'form',
  'wrong-type': 'type',
  'critical-extension': 'type',
  'algorithm-not-allowed': 'algorithm',
  'key-id-missing': 'keyId',
  'malformed-claims': 'claims',
  'claim-missing': 'claims',
  'claim-malformed': 'claims',
  'issuer-mismatch': 'issuer',
  'audience-mismatch': 'audience',
  'audience-untrusted': 'audience',
  'authorized-party-missing': 'audience',
  'authorized-party-mismatch': 'audience',
  'issued-in-future': 'time',
  'not-yet-valid': 'time',
  expired: 'time',
  'key-unknown': 'signature',
  'key-unsuitable': 'signature',
  'keys-unavailable': 'signature',
  'bad-signature': 'signature',
  'nonce-missing': 'nonce',
  'nonce-mismatch': 'nonce',
  'nonce-unexpected': 'nonce',
  'subject-mismatch': 'subject',
  'access-token-hash-missing': 'accessToken',
  'access-token-hash-mismatch': 'accessToken',
  'authentication-time-missing': 'level',
  'authentication-too-old': 'level',
  'acr-missing': 'level',
  'acr-not-accepted': 'level',
};

export interface CheckRow {
  /** Backticks mean code. */
  readonly words: string;
  readonly verdict: 'passed' | 'failed' | 'not reached';
}

export const checkRows = (result: IdTokenResult): readonly CheckRow[] => {
  const failed = result.ok ? undefined : checkOf[result.reason];
  const names = Object.keys(checks) as CheckName[];
  const failedAt = failed === undefined ? names.length : names.indexOf(failed);
  return (
    names
      .map((name, index): CheckRow & { readonly name: CheckName } => {
        if (index < failedAt) return { name, words: checks[name], verdict: 'passed' };
        return { name, words: checks[name], verdict: index === failedAt ? 'failed' : 'not reached' };
      })
      // Whom to expect is known after a first login only; then this is the check of a refreshed token.
      .filter(({ name }) => name !== 'subject')
  );
};

/** The request as it was sent, out of what the cookie remembers. */
export interface Begun {
  readonly parUrl: string;
  readonly fields: Fields;
  readonly authorisationUrl: string;
}

export interface ReadIdToken {
  readonly header: unknown;
  readonly claims: unknown;
  readonly result: IdTokenResult;
}

export interface LoggedIn {
  readonly token: Exchange;
  /** Undefined when there was none in the answer. */
  readonly idToken: ReadIdToken | undefined;
  readonly userInfo: { readonly exchange: Exchange; readonly sameSubject: boolean } | undefined;
}

const begunDetails = ({ parUrl, fields, authorisationUrl }: Begun): Html =>
  html`<details><summary>Steps 1 and 2: the pushed request and the redirect</summary><div class="inside">
<h3>POST ${parUrl}</h3>${fieldsBlock(fields)}
<h3>Then the browser</h3><pre><code>GET ${authorisationUrl}</code></pre>
</div></details>`;

const returnStep = (parameters: Fields, sentence: string): Html =>
  step(3, 'return', 'The browser comes back', html`<p>${words(sentence)}</p>${fieldsBlock(parameters)}`);

const believed =
  '`state` is the one of this browser’s request, and `iss` is this provider: the answer belongs to this login.';

/** @param parameters As they may be shown. */
export const errorPage = (
  begun: Begun,
  parameters: Fields,
  { error, description }: { readonly error: string; readonly description: string },
): Html =>
  failedPage(
    'Not logged in',
    'The provider reports an error',
    errorSentences(error, description),
    html`${begunDetails(begun)}
${returnStep(parameters, believed)}`,
  );

/** Why an answer is not believed. */
export type Disbelief = 'no-login' | 'state' | 'issuer' | 'malformed';

const disbeliefs: Readonly<Record<Disbelief, string>> = {
  'no-login':
    'This browser has no login under way: it has ended already (a reload ends here, too), it was begun too long ago, or it began in another browser.',
  state: '`state` is not the one of this browser’s request. Somebody else’s answer is not taken.',
  issuer: '`iss` is not this provider. An answer of another provider is not taken.',
  malformed: 'The answer has neither a code nor an error, or a parameter twice.',
};

export const disbelievedPage = (why: Disbelief): Html =>
  failedPage('This answer is not taken', 'Nobody has logged in', [words(disbeliefs[why])]);

const verdicts = { passed: '✓ passed', failed: '✗ failed', 'not reached': 'not reached' } as const;

const idTokenStep = ({ header, claims, result }: ReadIdToken): Html =>
  step(
    5,
    'id-token',
    'Check the ID token',
    html`<p>The ID token says who has logged in, to whom, and how. It is worth nothing before all of this holds:</p>
<ul class="checks">${checkRows(result).map(
      ({ words: sentence, verdict }) =>
        html`<li><span class="${verdict === 'not reached' ? 'quiet' : verdict}">${verdicts[verdict]}</span><span>${words(sentence)}</span></li>`,
    )}</ul>
${result.ok ? '' : html`<p class="failed"><code>${result.reason}</code>: ${result.detail}</p>`}
<div class="sides"><div><h3>Header</h3>${jsonBlock(header)}</div><div><h3>Claims</h3>${jsonBlock(claims)}</div></div>`,
  );

const userInfoStep = ({ exchange, sameSubject }: NonNullable<LoggedIn['userInfo']>): Html =>
  step(
    6,
    'user-info',
    'Ask for the claims of the scopes',
    html`<p>With the access token. ${sameSubject ? html`<code>sub</code> is the one of the ID token, so this is about the same person.` : html`<strong class="failed">sub is not the one of the ID token: this answer must not be used.</strong>`}</p>
${exchangeBlocks(exchange)}`,
  );

const tokenStep = (exchange: Exchange): Html =>
  step(
    4,
    'tokens',
    'Exchange the code for tokens',
    html`<p>Directly again. Who has only seen the code cannot do this: it needs the <code>code_verifier</code> of the first step, and the client’s secret where there is one. Tokens are shown by their ends.</p>
${exchangeBlocks(exchange)}`,
  );

const subjectOf = ({ idToken }: LoggedIn): string | undefined =>
  idToken?.result.ok === true ? idToken.result.claims.sub : undefined;

const outcome = (login: LoggedIn): Html => {
  const subject = subjectOf(login);
  if (subject !== undefined) {
    return banner('good', 'The login is complete', [
      html`For this application the person is <code>${subject}</code>, at every login. No other service is told the same.`,
    ]);
  }
  const sentence =
    login.idToken === undefined ? 'The provider gave no tokens.' : 'The ID token did not pass all checks.';
  return banner('bad', 'Not logged in', [sentence]);
};

/** @param logOutUrl Ends the session that the browser has with the provider. */
export const loggedInPage = (begun: Begun, parameters: Fields, login: LoggedIn, logOutUrl: string): Html => {
  const title = subjectOf(login) === undefined ? 'Not logged in' : 'Logged in';
  return layout(
    title,
    html`<h1>${title}</h1>
${outcome(login)}
${begunDetails(begun)}
${returnStep(parameters, `${believed} The code works once, and only for this client.`)}
${tokenStep(login.token)}
${login.idToken === undefined ? '' : idTokenStep(login.idToken)}
${login.userInfo === undefined ? '' : userInfoStep(login.userInfo)}
<p class="actions"><a class="button" href="${logOutUrl}">Log out</a> <a href="/demo">Another login</a></p>`,
  );
};

/** The provider does not answer. */
export const unreachablePage = (): Html =>
  failedPage('The provider does not answer', 'Nothing was lost', [
    'This server could not ask itself; its log says more. Try again in a moment.',
  ]);
