/** Phones in browsers, for admins: invite a number, look at its phones, remove one. */
import { html, raw } from 'hono/html';
import { renderSVG } from 'uqr';
import type { ConsoleSession } from '../../src/console/deps.ts';
import { confirmPage } from '../../src/console/pages/confirm-page.ts';
import { layOut } from '../../src/console/pages/layout.ts';
import {
  banner,
  cardTable,
  csrfField,
  emptyList,
  type Html,
  invalid,
  nothing,
  secretBanner,
  timeOf,
} from '../../src/console/pages/markup.ts';
import type { NumberView } from './views.ts';

export interface SubscribersModel {
  readonly session: ConsoleSession;
  readonly number?: NumberView | undefined;
  readonly notice?: 'removed' | undefined;
  readonly problem?: keyof typeof problems | undefined;
  /** The new invitation, which is shown once. */
  readonly invitation?:
    | { readonly msisdn: string; readonly link: string; readonly expiresAt: number }
    | undefined;
}

const problems = {
  number: 'Give a mobile number with its country code.',
  unknown: 'The number was never invited.',
  phone: 'There is no such phone any more.',
  configured: 'The configuration has this number without an App of the kind phone.',
  'no-address': 'The service does not know its public address.',
} as const;

type PhoneView = NumberView['phones'][number];

const standing = ({ blocked, gate }: PhoneView): string =>
  blocked ? 'PIN blocked' : gate === 'pin' ? 'PIN' : 'passkey';

/** The QR code of a link. Its background is white, so that a camera reads it on a dark page. */
const qrCode = (link: string): Html => {
  const size = '<svg role="img" aria-label="QR code of the link" width="224" height="224" ';
  return html`<p>${raw(renderSVG(link, { border: 4 }).replace('<svg ', size))}</p>`;
};

const row = ({ msisdn }: NumberView, phone: PhoneView, csrf: Html): Html => {
  const { id, label, enrolledAt, certificateEndsAt } = phone;
  const at = (time: string): Html => timeOf(Date.parse(time), time.slice(0, 10));
  return html`<tr role="row"><th scope="row" role="rowheader"><strong>${label}</strong></th><td role="cell">${standing(phone)}</td><td role="cell" class="nowrap" data-label="enrolled">${at(enrolledAt)}</td><td role="cell" class="nowrap" data-label="until">${at(certificateEndsAt)}</td><td role="cell" class="nowrap end"><form method="post" action="/admin/subscribers">${csrf}<input type="hidden" name="msisdn" value="${msisdn}"><input type="hidden" name="phone" value="${id}"><button type="submit" name="act" value="remove" class="plain small danger" aria-label="Remove the phone ${label}">Remove …</button></form></td></tr>`;
};

const phonesOf = (
  number: NumberView,
  csrf: Html,
): Html => html`<h2 id="phones">Phones of ${number.msisdn}</h2>
${cardTable(
  'Phones of the number',
  ['Phone', 'Guarded by', 'Enrolled', 'Certificate until', ['Remove', 'unseen']],
  number.phones.map((phone) => row(number, phone, csrf)),
  number.invitedUntil === undefined
    ? html`No phone is enrolled. <a href="#invite">Invite the number</a>.`
    : html`No phone is enrolled; an invitation is open until ${timeOf(Date.parse(number.invitedUntil), number.invitedUntil)}.`,
)}`;

export const subscribersPage = (model: SubscribersModel): string => {
  const { session, number, notice, problem, invitation } = model;
  const csrf = csrfField(session.csrf);
  return layOut({
    title: problem === undefined ? 'Phones' : 'Error: Phones',
    session,
    current: 'subscribers',
    main: html`<h1>Phones</h1>
<p>A person who is invited opens the link in a browser, which then is a phone for signing: no app store, no operator. Whoever opens the link signs for the number, so send it over a private channel.</p>
${notice === undefined ? nothing : banner('good', 'Removed', 'The phone cannot sign any more.')}
${problem === undefined ? nothing : banner('bad', 'Not done', problems[problem])}
${
  invitation === undefined
    ? nothing
    : html`${secretBanner(
        `Invitation of ${invitation.msisdn}`,
        invitation.link,
        'It is shown once, and good for one browser. Earlier invitations of the number are no longer good.',
      )}
${qrCode(invitation.link)}`
}
<div class="columns main"><section aria-labelledby="phones">${number === undefined ? html`<h2 id="phones" class="unseen">Phones of a number</h2>${emptyList(html`<a href="#msisdn">Give a number</a> to see its phones, or to invite it.`)}` : phonesOf(number, csrf)}</section>
<section aria-labelledby="invite"><h2 id="invite">A number</h2><form class="ask" method="post" action="/admin/subscribers">${csrf}
<div class="field"><label for="msisdn">Mobile number</label><input id="msisdn" name="msisdn" type="tel" required maxlength="30" autocomplete="off" value="${number?.msisdn ?? ''}" aria-describedby="msisdn-hint"${invalid(problem === 'number')}><span class="hint" id="msisdn-hint">With its country code: +41 …</span></div>
<button type="submit" name="act" value="find" class="plain">Show its phones</button>
<button type="submit" name="act" value="invite">Invite, and show the link</button></form></section></div>`,
  });
};

export const removePhonePage = (
  session: ConsoleSession,
  { msisdn }: NumberView,
  phone: PhoneView,
): string =>
  confirmPage({
    session,
    current: 'subscribers',
    title: 'Remove the phone?',
    about: [
      ['Number', msisdn],
      ['Phone', phone.label],
      ['Enrolled', timeOf(Date.parse(phone.enrolledAt), phone.enrolledAt.slice(0, 10))],
    ],
    consequences: [
      'Its certificates are revoked for ever, and what it is asked now ends.',
      'To sign with it again, the person needs a new invitation.',
    ],
    action: '/admin/subscribers',
    fields: { msisdn, phone: phone.id, act: 'remove' },
    button: 'Remove the phone',
    back: '/admin/subscribers',
  });
