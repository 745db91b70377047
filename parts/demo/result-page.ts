/** Steps 3 to 6, after the browser has come back, with the first two again. */
import { html } from 'hono/html';
import type {
  GrantedScope,
  IdTokenFailure,
  IdTokenResult,
} from '../../packages/relying-party/src/index.ts';
import type { Fields } from './login.ts';
import {
  banner,
  exchangeBlocks,
  fieldsBlock,
  type Html,
  jsonBlock,
  layout,
  step,
  words,
} from './markup.ts';
import type { Exchange } from './provider-calls.ts';
import { errorSentences, failedPage } from './pushed-page.ts';

/**
 * The checks of an ID token, in the order of the library, each with the reasons for its failure.
 * The library stops at the first failure, so its reason gives the result of all checks.
 */
const checks: readonly (readonly [words: string, reasons: readonly IdTokenFailure[]])[] = [
  [
    'It has three parts of strict base64url, and its header is JSON.',
    ['malformed', 'too-long', 'encrypted', 'malformed-header'],
  ],
  [
    'It is an ID token, and no other kind of token from the same key.',
    ['wrong-type', 'critical-extension'],
  ],
  ['It is signed with RS256, as this client expects.', ['algorithm-not-allowed']],
  ['Its header names the key (`kid`).', ['key-id-missing']],
  [
    'It has all the claims that it must have, each of the right type.',
    ['malformed-claims', 'claim-missing', 'claim-malformed'],
  ],
  ['`iss` is this provider.', ['issuer-mismatch']],
  [
    '`aud` is this client.',
    [
      'audience-mismatch',
      'audience-untrusted',
      'authorized-party-missing',
      'authorized-party-mismatch',
    ],
  ],
  [
    'It is valid now: `iat` has passed, `exp` has not.',
    ['issued-in-future', 'not-yet-valid', 'expired'],
  ],
  [
    'The signature is that of the named key in the provider’s key set.',
    ['key-unknown', 'key-unsuitable', 'keys-unavailable', 'bad-signature'],
  ],
  [
    '`nonce` is the one that this browser’s request carried.',
    ['nonce-missing', 'nonce-mismatch', 'nonce-unexpected'],
  ],
  [
    '`at_hash` is that of the access token that came along.',
    ['access-token-hash-missing', 'access-token-hash-mismatch'],
  ],
  [
    '`acr` and `auth_time` are as asked for.',
    ['authentication-time-missing', 'authentication-too-old', 'acr-missing', 'acr-not-accepted'],
  ],
];

/** A row of the list of checks. In `words` backticks mean code. */
interface CheckRow {
  readonly words: string;
  readonly verdict: 'passed' | 'failed' | 'not reached';
}

export const checkRows = (result: IdTokenResult): readonly CheckRow[] => {
  const failedAt = result.ok
    ? checks.length
    : checks.findIndex(([, reasons]) => reasons.includes(result.reason));
  return checks.map(([sentence], index) => ({
    words: sentence,
    verdict: index < failedAt ? 'passed' : index === failedAt ? 'failed' : 'not reached',
  }));
};

/** The sent request, from the state in the cookie. */
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
  readonly scope: GrantedScope;
  /** The ID token; undefined when the answer had none. */
  readonly idToken: ReadIdToken | undefined;
  readonly userInfo: { readonly exchange: Exchange; readonly sameSubject: boolean } | undefined;
}

const begunDetails = ({ parUrl, fields, authorisationUrl }: Begun): Html =>
  html`<details><summary>Steps 1 and 2: the pushed request and the redirect</summary><div class="inside">
<h3>POST ${parUrl}</h3>${fieldsBlock(fields)}
<h3>Then the browser</h3><pre><code>GET ${authorisationUrl}</code></pre>
</div></details>`;

const returnStep = (parameters: Fields, sentence: string): Html =>
  step(
    3,
    'return',
    'The browser comes back',
    html`<p>${words(sentence)}</p>${fieldsBlock(parameters)}`,
  );

const believed =
  '`state` is the one of this browser’s request, and `iss` is this provider: the answer belongs to this login.';

/** @param parameters The parameters without secrets. */
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

/** The reasons why an answer is not accepted. */
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

const scopeSentence = ({ ok, granted, missing, unexpected }: GrantedScope): Html => {
  if (ok)
    return html`<p>The granted scopes are those that were asked for: <code>${granted.join(' ')}</code>.</p>`;
  return html`<p class="failed">The granted scopes are not those that were asked for. Missing: ${missing.join(' ') || 'none'}. Not asked for: ${unexpected.join(' ') || 'none'}.</p>`;
};

const tokenStep = ({ token: exchange, scope, idToken }: LoggedIn): Html =>
  step(
    4,
    'tokens',
    'Exchange the code for tokens',
    html`<p>Directly again. The code alone is not enough: this needs the <code>code_verifier</code> of the first step, and the client’s secret where there is one. Tokens are shown by their ends.</p>
${idToken === undefined ? '' : scopeSentence(scope)}
${exchangeBlocks(exchange)}`,
  );

const subjectOf = ({ idToken, scope }: LoggedIn): string | undefined =>
  idToken?.result.ok === true && scope.ok ? idToken.result.claims.sub : undefined;

const outcome = (login: LoggedIn): Html => {
  const subject = subjectOf(login);
  if (subject !== undefined) {
    return banner('good', 'The login is complete', [
      html`For this application the person is <code>${subject}</code>, at every login. No other service is told the same.`,
    ]);
  }
  const sentence =
    login.idToken === undefined
      ? 'The provider gave no tokens.'
      : 'The tokens did not pass all checks.';
  return banner('bad', 'Not logged in', [sentence]);
};

/** @param logOutUrl The address that ends the session of the browser at the provider. */
export const loggedInPage = (
  begun: Begun,
  parameters: Fields,
  login: LoggedIn,
  logOutUrl: string,
): Html => {
  const title = subjectOf(login) === undefined ? 'Not logged in' : 'Logged in';
  return layout(
    title,
    html`<h1>${title}</h1>
${outcome(login)}
${begunDetails(begun)}
${returnStep(parameters, `${believed} The code works once, and only for this client.`)}
${tokenStep(login)}
${login.idToken === undefined ? '' : idTokenStep(login.idToken)}
${login.userInfo === undefined ? '' : userInfoStep(login.userInfo)}
<p class="actions"><a class="button" href="${logOutUrl}">Log out</a> <a href="/demo">Another login</a></p>`,
  );
};

/** The page for a provider that does not answer. */
export const unreachablePage = (): Html =>
  failedPage('The provider does not answer', 'Nothing was lost', [
    'This server could not ask itself; its log says more. Try again in a moment.',
  ]);
