/** Steps 1 and 2: the pushed request, and the way to the login page. */
import { html } from 'hono/html';
import { explainError } from './error-meanings.ts';
import { layout } from './layout.ts';
import { banner, exchangeBlocks, type Html, step } from './markup.ts';
import { type Answered, type Exchange, textOf } from './provider-calls.ts';

const pushStep = (exchange: Exchange): Html =>
  step(
    1,
    'push',
    'Push the request',
    html`<p>The application tells the provider what it wants, directly and with its own credentials. The browser never carries these parameters, so nobody can change them on the way.</p>
${exchangeBlocks(exchange)}`,
  );

/** `<code>` where a name begins a sentence is rare enough; the provider's words are shown as they are. */
export const errorSentences = (error: string, description: string): readonly unknown[] => {
  const { code, meaning } = explainError(description);
  return [
    meaning,
    html`<code>${error}</code>${code === undefined ? '' : html`, code <code>${code}</code>`}: ${description || 'no description'}`,
  ];
};

/** The provider did not take the request. */
export const refusedPage = ({ body, exchange }: Answered): Html =>
  layout(
    'The request was refused',
    html`<h1>The request was refused</h1>
${banner('bad', 'Nobody has been asked', errorSentences(textOf(body.error), textOf(body.error_description)))}
${pushStep(exchange)}
<p class="actions"><a class="button" href="/demo">Back to the beginning</a></p>`,
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
