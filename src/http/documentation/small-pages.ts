/** The page at `/`, and the one for an address that does not exist. */
import { html } from 'hono/html';
import { type Html, layOut } from './markup.ts';

/** A page of a part with which people begin. */
export interface Entrance {
  readonly path: string;
  /** The name beside the link on the page at `/`. */
  readonly name: string;
  readonly what: string;
  /** The words before the address in the greeting of a start: what people do there. */
  readonly greeting: string;
}

const links = (entrances: readonly Entrance[]): Html =>
  html`<dl class="ways">${[
    ...entrances.map(({ path, name, what }) => [path, name, what]),
    ['/docs', 'Reference', 'The interface for applications, with examples.'],
    ['/admin', 'Console', 'Transactions, replays and users, for operators.'],
  ].map(
    ([address, name, what]) => html`<dt><a href="${address}">${name}</a></dt><dd>${what}</dd>`,
  )}</dl>`;

export const rootPage = (sandbox: boolean, entrances: readonly Entrance[]): Html =>
  layOut(
    'Paraph',
    '/',
    html`<span>Mobile signature service</span>`,
    html`<h1>Signatures by phone</h1>
<p class="lead">An application asks, a person signs on their phone.${sandbox ? ' This is a sandbox: try it.' : ''}</p>
</header>
<main id="content" tabindex="-1">${links(entrances)}</main>`,
  );

export const unknownPage: Html = layOut(
  'No such address · Paraph',
  '/',
  html`<span>Mobile signature service</span>`,
  html`<h1>There is nothing at this address</h1>
</header>
<main id="content" tabindex="-1"><p class="lead">Look at the spelling, or <a href="/">begin at the start</a>.</p></main>`,
);
