/** The certificates of one number, and what can be done about them. */
import { html } from 'hono/html';
import { revocationReasons } from '../../operators/certificates.ts';
import type { ConsoleSession } from '../deps.ts';
import { layOut } from './layout.ts';
import { cardTable, fullTime, type Html, hiddenFields, invalid, nothing, options, timeOf } from './markup.ts';
import { type Notice, noticeBanner } from './notices.ts';

export interface ShownCertificate {
  readonly serial: string;
  readonly serialNumber: string;
  readonly sscdId: string;
  readonly algorithm: string;
  readonly version: number;
  readonly state: 'good' | 'revoked' | 'over';
  readonly notBefore: number;
  readonly notAfter: number;
  readonly reason?: string;
  readonly revokedAt?: number;
}

export interface CertificatesModel {
  readonly session: ConsoleSession;
  /** As it was asked for; empty at first. */
  readonly msisdn: string;
  /** Undefined without a number. */
  readonly certificates: readonly ShownCertificate[] | undefined;
  readonly isWrong: boolean;
  readonly notice: Notice | undefined;
}

const reasons: Readonly<Record<(typeof revocationReasons)[number], string>> = {
  unspecified: 'No reason',
  keyCompromise: 'Phone or key lost',
  affiliationChanged: 'The person has changed',
  superseded: 'Replaced by a new key',
  cessationOfOperation: 'No longer used',
  privilegeWithdrawn: 'Right withdrawn',
};

/** Certificates last for years. */
const dayOf = (at: number): Html => timeOf(at, fullTime(at).slice(0, 10));

const reasonOf = (name: string | undefined): string => {
  const known = revocationReasons.find((each) => each === name);
  return known === undefined ? '' : reasons[known];
};

const because = (id: string): Html =>
  html`<select id="${id}" name="reason" aria-label="Reason">${options(
    revocationReasons.map((name) => [name, reasons[name]] as const),
    'keyCompromise',
  )}</select>`;

const row = (certificate: ShownCertificate, hidden: Html): Html => {
  const { serial, serialNumber, sscdId, algorithm, state, notBefore, notAfter, revokedAt } = certificate;
  const revoke = html`<form method="post" action="/admin/certificates/revoke">${hidden}<input type="hidden" name="serial" value="${serial}">${because(`reason-${serial}`)} <button type="submit" class="plain small" aria-label="Revoke the certificate ${serial}">Revoke</button></form>`;
  const standing =
    revokedAt === undefined
      ? html`${state}`
      : html`${state} ${dayOf(revokedAt)}<br><small>${reasonOf(certificate.reason)}</small>`;
  return html`<tr role="row"><th scope="row" role="rowheader" class="first"><code>${serial}</code></th><td role="cell" data-label="device">${sscdId} ${algorithm}</td><td role="cell" data-label="person"><code>${serialNumber}</code></td><td role="cell" class="nowrap" data-label="from">${dayOf(notBefore)}</td><td role="cell" class="nowrap" data-label="until">${dayOf(notAfter)}</td><td role="cell" data-label="state">${standing}</td><td role="cell" class="end">${state === 'good' ? revoke : nothing}</td></tr>`;
};

const ofCertificates = (
  hidden: Html,
): Html => html`<form class="ask" method="post" action="/admin/certificates/revoke">${hidden}<p>Revoke every certificate of the number. The person cannot sign until new keys are allowed.</p><div class="field"><label for="reason-all">Reason</label>${because('reason-all')}</div><div class="field"><label for="why-revoke">Why (for the audit log)</label><input id="why-revoke" name="why" type="text" maxlength="500" autocomplete="off"></div><button type="submit">Revoke all</button></form>
<form class="ask" method="post" action="/admin/certificates/renew">${hidden}<p>Allow new keys for devices whose certificate is revoked. They are made at their next use.</p><button type="submit" class="plain">Allow new keys</button></form>`;

/** A number without certificates may be behind a gateway, or log in with another phone. */
const orders = (
  hidden: Html,
  hasCertificates: boolean,
): Html => html`<section aria-labelledby="all-of-it"><h2 id="all-of-it">The whole number</h2>
${hasCertificates ? ofCertificates(hidden) : nothing}
<form class="ask" method="post" action="/admin/certificates/reassign">${hidden}<p>The number belongs to another person now. Its certificates are revoked, its phones in browsers removed, and the new person gets another serial number and another account for logins.</p><div class="field"><label for="why-reassign">Why (for the audit log)</label><input id="why-reassign" name="why" type="text" maxlength="500" autocomplete="off"></div><button type="submit" class="plain">Give the number to a new person</button></form></section>`;

export const certificatesPage = ({
  session,
  msisdn,
  certificates,
  isWrong,
  notice,
}: CertificatesModel): string => {
  const hidden = hiddenFields({ csrf: session.csrf, msisdn });
  return layOut({
    title: isWrong ? 'Error: Certificates' : 'Certificates',
    session,
    current: 'certificates',
    main: html`<h1>Certificates</h1>
${noticeBanner(notice)}
<form class="ask" method="get" action="/admin/certificates"><div class="field"><label for="msisdn">Mobile number</label><input id="msisdn" name="msisdn" type="tel" required maxlength="40" value="${msisdn}" autocomplete="off"${invalid(isWrong)}>${isWrong ? html`<p class="error">Give a number with its country code.</p>` : nothing}</div><button type="submit">Show</button></form>
${
  certificates === undefined
    ? nothing
    : html`${
        certificates.length === 0
          ? html`<p class="empty">This number has no certificates here yet: they are made when it signs first.</p>`
          : cardTable(
              'Certificates of the number',
              ['Certificate', 'Device', 'Person', 'From', 'Until', 'State', ['Revoke', 'unseen']],
              certificates.map((certificate) => row(certificate, hidden)),
            )
      }${orders(hidden, certificates.length > 0)}`
}`,
  });
};
