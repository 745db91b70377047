/** The page with the certificates of one number, and the orders about them. */
import { html } from 'hono/html';
import { revocationReasons } from '../../packages/pki/src/ports.ts';
import type { ConsoleSession } from '../../src/console/deps.ts';
import type { Belonging } from '../../src/console/operators/number-owners.ts';
import { choiceField, confirmPage, whyField } from '../../src/console/pages/confirm-page.ts';
import { layOut } from '../../src/console/pages/layout.ts';
import {
  cardTable,
  counted,
  fullTime,
  type Html,
  hiddenFields,
  invalid,
  nothing,
  timeOf,
} from '../../src/console/pages/markup.ts';
import { type Notice, noticeBanner } from '../../src/console/pages/notices.ts';
import type { ShownAuthority } from './orders.ts';

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
  /** The text of the number field; empty at first. */
  readonly msisdn: string;
  /** Undefined without a number. */
  readonly certificates: readonly ShownCertificate[] | undefined;
  /** Shown without a number. */
  readonly authorities: readonly ShownAuthority[];
  readonly now: number;
  readonly isWrong: boolean;
  readonly notice: Notice | undefined;
}

const reasonWords: Readonly<Record<(typeof revocationReasons)[number], string>> = {
  unspecified: 'No reason',
  keyCompromise: 'Phone or key lost',
  affiliationChanged: 'The person has changed',
  superseded: 'Replaced by a new key',
  cessationOfOperation: 'No longer used',
  privilegeWithdrawn: 'Right withdrawn',
};

/** The day of a time: certificates are valid for years, so the day is enough. */
const dayOf = (at: number): Html => timeOf(at, fullTime(at).slice(0, 10));

const reasonOf = (name: string | undefined): string => {
  const known = revocationReasons.find((each) => each === name);
  return known === undefined ? '' : reasonWords[known];
};

const row = (certificate: ShownCertificate, hidden: Html): Html => {
  const { serial, serialNumber, sscdId, algorithm, state, notBefore, notAfter, revokedAt } =
    certificate;
  const revoke = html`<form method="post" action="/admin/certificates/revoke">${hidden}<input type="hidden" name="serial" value="${serial}"><button type="submit" class="plain small danger" aria-label="Revoke the certificate ${serial}">Revoke …</button></form>`;
  const standing =
    revokedAt === undefined
      ? html`${state}`
      : html`${state} ${dayOf(revokedAt)}<br><small>${reasonOf(certificate.reason)}</small>`;
  return html`<tr role="row"><th scope="row" role="rowheader" class="first"><code>${serial}</code></th><td role="cell" data-label="device">${sscdId} ${algorithm}</td><td role="cell" data-label="person"><code>${serialNumber}</code></td><td role="cell" class="nowrap" data-label="from">${dayOf(notBefore)}</td><td role="cell" class="nowrap" data-label="until">${dayOf(notAfter)}</td><td role="cell" data-label="state">${standing}</td><td role="cell" class="end">${state === 'good' ? revoke : nothing}</td></tr>`;
};

const ofCertificates = (
  hidden: Html,
): Html => html`<form class="ask" method="post" action="/admin/certificates/revoke">${hidden}<p>Revoke every certificate of the number. The person cannot sign until new keys are allowed.</p><button type="submit" class="plain danger">Revoke all …</button></form>
<form class="ask" method="post" action="/admin/certificates/renew">${hidden}<p>Allow new keys for devices whose certificate is revoked. They are made at their next use.</p><button type="submit" class="plain">Allow new keys</button></form>`;

/** The orders. A number without certificates may be at another service, or use another phone. */
const orders = (
  hidden: Html,
  hasCertificates: boolean,
): Html => html`<section aria-labelledby="all-of-it"><h2 id="all-of-it">The whole number</h2>
${hasCertificates ? ofCertificates(hidden) : nothing}
<form class="ask" method="post" action="/admin/certificates/reassign">${hidden}<p>The number belongs to another person now. Its certificates are revoked, and the new person gets another serial number and another account for logins.</p><button type="submit" class="plain danger">Give the number to a new person …</button></form></section>`;

const authorityTable = (authorities: readonly ShownAuthority[], now: number): Html => {
  const rows = authorities.map(
    ({ id, notBefore, notAfter, fingerprint }) =>
      html`<tr role="row"><th scope="row" role="rowheader" class="nowrap">${id}</th><td role="cell" data-label="from">${dayOf(notBefore)}</td><td role="cell" data-label="until">${dayOf(notAfter)}${notAfter > now ? nothing : html` <span class="quiet">over</span>`}</td><td role="cell" class="wide code">${fingerprint.split(/(?<=:)/).map((byte) => html`${byte}<wbr>`)}</td></tr>`,
  );
  return html`<section aria-labelledby="authorities"><h2 id="authorities">Authorities</h2>
<p class="quiet">The last of each kind issues. The next one is made by itself, long before the end; by hand with <code>paraph certificates roll-over</code>.</p>
${cardTable('Authorities', ['Authority', 'From', 'Until', 'SHA-256 fingerprint'], rows)}</section>`;
};

export const certificatesPage = ({
  session,
  msisdn,
  certificates,
  authorities,
  now,
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
    ? html`${authorities.length === 0 ? nothing : authorityTable(authorities, now)}`
    : html`${cardTable(
        'Certificates of the number',
        ['Certificate', 'Device', 'Person', 'From', 'Until', 'State', ['Revoke', 'unseen']],
        certificates.map((certificate) => row(certificate, hidden)),
        html`This number has no certificates here yet. They are made when it signs first: <code>paraph sign +${msisdn} &quot;&lt;text&gt;&quot;</code>.`,
      )}${orders(hidden, certificates.length > 0)}`
}`,
  });
};

export interface CertificateOrderModel {
  readonly session: ConsoleSession;
  /** The number, digits. */
  readonly msisdn: string;
  /** The serial number of the certificate to be revoked; undefined for all of the number. */
  readonly serial: string | undefined;
  /** The certificates that will be revoked. */
  readonly certificates: readonly ShownCertificate[];
  readonly why: string;
  /** The field that was missing. */
  readonly problem: 'reason' | 'why' | undefined;
}

const back = (msisdn: string): string => `/admin/certificates?${new URLSearchParams({ msisdn })}`;

const lines = (texts: readonly string[]): Html =>
  html`${texts.map((text, index) => html`${index === 0 ? nothing : html`<br>`}<code>${text}</code>`)}`;

const aboutOrder = ({ msisdn, certificates }: CertificateOrderModel) =>
  [
    ['Number', `+${msisdn}`],
    ['Person', lines([...new Set(certificates.map(({ serialNumber }) => serialNumber))])],
    [
      certificates.length === 1 ? 'Certificate' : 'Certificates',
      lines(
        certificates.map(({ serial, sscdId, algorithm }) => `${serial} ${sscdId} ${algorithm}`),
      ),
    ],
  ] as const;

const problems = {
  reason: 'Choose a reason.',
  why: 'Say why, in at most 500 characters.',
} as const;

export const revokePage = (model: CertificateOrderModel): string => {
  const { session, msisdn, serial, certificates, why, problem } = model;
  const isOne = serial !== undefined;
  return confirmPage({
    session,
    current: 'certificates',
    title: isOne ? 'Revoke the certificate?' : 'Revoke all certificates of the number?',
    about: aboutOrder(model),
    consequences: [
      isOne
        ? 'The certificate is revoked for ever. Lists and OCSP answers say so, with the reason.'
        : `${counted(certificates.length, 'certificate')} will be revoked for ever. Lists and OCSP answers say so, with the reason.`,
      `The person cannot sign with ${certificates.length === 1 ? 'its device' : 'these devices'} until you allow new keys, except after “${reasonWords.superseded}” or “${reasonWords.affiliationChanged}”.`,
      `With “${reasonWords.keyCompromise}”, later certificates of the same key of a phone are revoked as well.`,
    ],
    action: '/admin/certificates/revoke',
    fields: { msisdn, ...(isOne && { serial }) },
    asks: html`${choiceField(
      'reason',
      'Reason',
      revocationReasons.map((name) => [name, reasonWords[name]] as const),
      problem === 'reason',
    )}${whyField(false, why)}`,
    button: isOne ? 'Revoke the certificate' : 'Revoke all',
    back: back(msisdn),
    problem: problem && problems[problem],
  });
};

/** @param belongings What parts keep for the owner of the number. */
export const reassignPage = (
  model: CertificateOrderModel,
  belongings: readonly Belonging[],
): string => {
  const { session, msisdn, certificates, why, problem } = model;
  return confirmPage({
    session,
    current: 'certificates',
    title: 'Give the number to a new person?',
    about: [...aboutOrder(model), ...belongings.map(({ label, shown }) => [label, shown] as const)],
    consequences: [
      `The person who has the number now loses it: ${counted(certificates.length, 'certificate')} will be revoked for ever${belongings.map(({ lost }) => `, and ${lost}`).join('')}.`,
      'Whoever uses the number next is another person: with another serial number, and with another account at logins.',
      'Sessions and tokens of the person’s logins end.',
      ...belongings.map(({ alsoLost }) => alsoLost),
      'A signature process that is open asks by number, and so the new person: cancel it first.',
    ],
    action: '/admin/certificates/reassign',
    fields: { msisdn },
    asks: whyField(true, why, problem === 'why'),
    button: 'Give the number to a new person',
    back: back(msisdn),
    problem: problem && problems[problem],
  });
};
