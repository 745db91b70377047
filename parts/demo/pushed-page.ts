/** Steps 1 and 2: the pushed request, and the way to the login page. */
import { html } from 'hono/html';
import { banner, exchangeBlocks, type Html, layout, step } from './markup.ts';
import { type Answered, type Exchange, textOf } from './provider-calls.ts';

/** The meanings of the codes in `error_description` (`mid_<group>_<code>_<trace> - <text>`). */
const meanings: ReadonlyMap<string, string> = new Map([
  ['req_1010', 'acr_values names a level that does not exist.'],
  ['req_1020', 'acr_values is no list of names with single spaces between them.'],
  ['req_1030', 'ui_locales names a language that does not exist.'],
  ['req_1040', 'ui_locales is no list of language tags.'],
  ['req_1050', 'login_hint has no number in it.'],
  [
    'req_1070',
    'The number in login_hint is not valid: 8 to 15 digits with the country code are expected.',
  ],
  ['req_1080', 'login_hint has the same number twice.'],
  ['req_1100', 'login_hint is neither a number nor JSON of the expected form.'],
  ['req_1110', 'The scope is not usable: openid is missing, or one does not exist.'],
  ['req_1130', 'The request was empty.'],
  ['req_1900', 'Something else is wrong with the request; the text says what.'],
  ['sec_2010', 'The client may not ask for one of these scopes.'],
  ['sec_2020', 'The client may not ask for this level.'],
  ['sec_2030', 'The client may not send one of these parameters.'],
  ['auth_3010', 'The person cancelled, on the phone or on the page.'],
  ['auth_3060', 'The account of the number has to be activated first.'],
  ['auth_3080', 'The number has nothing that could log in at the requested level.'],
  ['auth_3300', 'The person did not answer in time.'],
  ['auth_3310', 'The phone is busy with another request.'],
  ['auth_3900', 'The person could not be authenticated; the login page has said why.'],
  ['sys_9900', 'The service itself failed.'],
]);

/** @returns The code, such as `auth_3010`, if the description has one. */
export const explainError = (
  description: string,
): { code: string | undefined; meaning: string } => {
  const code = /^mid_((?:req|sec|auth|sys)_\d{4})_/.exec(description)?.[1];
  const meaning = code === undefined ? undefined : meanings.get(code);
  return { code, meaning: meaning ?? 'The provider refused the request; its text says why.' };
};

const pushStep = (exchange: Exchange): Html =>
  step(
    1,
    'push',
    'Push the request',
    html`<p>The application tells the provider what it wants, directly and with its own credentials. The browser never carries these parameters, so nobody can change them on the way.</p>
${exchangeBlocks(exchange)}`,
  );

export const errorSentences = (error: string, description: string): readonly unknown[] => {
  const { code, meaning } = explainError(description);
  return [
    meaning,
    html`<code>${error}</code>${code === undefined ? '' : html`, code <code>${code}</code>`}: ${description || 'no description'}`,
  ];
};

/** The page for a login that has failed. */
export const failedPage = (
  title: string,
  what: string,
  sentences: readonly unknown[],
  details: unknown = '',
): Html =>
  layout(
    title,
    html`<h1>${title}</h1>
${banner('bad', what, sentences)}
${details}
<p class="actions"><a class="button" href="/demo">Back to the beginning</a></p>`,
  );

/** The page for a request that the provider has refused. */
export const refusedPage = ({ body, exchange }: Answered): Html =>
  failedPage(
    'The request was refused',
    'Nobody has been asked',
    errorSentences(textOf(body.error), textOf(body.error_description)),
    pushStep(exchange),
  );

export const pushedPage = (
  { exchange }: Answered,
  authorisationUrl: string,
  expiresInSeconds: number,
): Html =>
  layout(
    'The request is pushed',
    html`<h1>The request is pushed</h1>
${pushStep(exchange)}
${step(
  2,
  'redirect',
  'Send the browser to the provider',
  html`<p>The browser brings the handle and the name of the client. The handle is good for ${expiresInSeconds} seconds; until then a reload of the login page works.</p>
<pre><code>GET ${authorisationUrl}</code></pre>
<p class="actions"><a class="button" href="${authorisationUrl}">Continue to the login page</a> <a href="/demo">Back to the beginning</a></p>`,
)}`,
  );
