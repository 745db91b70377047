/** The people of a process, on its page. */
import { html } from 'hono/html';
import {
  cardTable,
  csrfField,
  type Html,
  hiddenFields,
  linkTo,
  nothing,
  timeOf,
} from '../../../src/console/pages/markup.ts';
import { shownText } from '../../../src/http/pages/shown-text/shown-text.js';
import type { HostedPage } from '../../workflows/index.ts';
import type { SignerView, StepView } from '../charts/process-report.ts';

const transactionLink = (msspTransId: string | undefined): Html =>
  msspTransId === undefined ? nothing : linkTo('transactions', msspTransId);

const kinds: Readonly<Partial<Record<string, string>>> = {
  open: 'running',
  rests: 'stopped',
  refused: 'failed',
  revoked: 'failed',
  unreached: 'failed',
  unmet: 'stopped',
};
const mark = (state: string): Html =>
  html`<span class="state ${kinds[state] ?? state}">${state}</span>`;

const signerRow = (page: HostedPage, step: StepView, signer: SignerView): Html => {
  const { key, name, state, at, msspTransId, code, reason, undelivered } = signer;
  const again =
    state === 'rests' && page.mayOrder
      ? html`<form method="post" action="${page.path}/again">${csrfField(page.session.csrf)}${hiddenFields({ step: step.name, key })}<button type="submit" class="plain small">Ask again<span class="unseen"> ${shownText(name) || key}</span></button></form>`
      : nothing;
  return html`<tr role="row"><th scope="row" role="rowheader" class="first">${shownText(name) || html`<span class="quiet">signer</span>`}<span class="sub">${key}</span></th><td role="cell" class="second end">${mark(state)}${code === undefined ? nothing : html` <span class="quiet">${code}</span>`}${undelivered === undefined ? nothing : html`<span class="sub">mail not delivered</span>`}</td><td role="cell" class="nowrap">${at === undefined ? nothing : timeOf(at)}</td><td role="cell" class="wide">${transactionLink(msspTransId)}${reason === undefined ? nothing : html`<span class="sub">“${shownText(reason)}”</span>`}</td><td role="cell" class="end">${again}</td></tr>`;
};

export const peopleSection = (page: HostedPage, steps: readonly StepView[]): Html =>
  html`<section class="attempts" aria-labelledby="people"><h2 id="people">People</h2>${steps.map(
    (step) =>
      html`<h3>${shownText(step.name)} ${mark(step.state)} <span class="quiet">needs ${step.need}</span></h3>${
        // A skipped step has no signers.
        step.signers.length === 0
          ? nothing
          : cardTable(
              `Signers of ${shownText(step.name)}`,
              ['Signer', 'State', 'At', 'Transaction', ['Order', 'unseen']],
              step.signers.map((signer) => signerRow(page, step, signer)),
            )
      }`,
  )}</section>`;
