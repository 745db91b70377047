/**
 * The result of a form, shown by the page after the redirect. The address has the name of the
 * notice, not its text, so that no link can put text on a page.
 */
import type { Frame, NoticeText } from '../part.ts';
import { banner, type Html, nothing } from './markup.ts';

const notices = {
  'workflow-cancelled': ['good', 'Cancelled', 'Nobody is asked any more.'],
  'workflow-ended': ['bad', 'Not done', 'The workflow has ended.'],
  'workflow-undefined': ['bad', 'Not done', 'The service has no definition of this workflow.'],
  'workflow-busy': ['bad', 'Not done', 'A worker was busy with it. Try again.'],
  'workflow-replayed': ['good', 'Runs again', 'Its chart gets REPLAY.'],
  'workflow-not-failed': [
    'bad',
    'Not run again',
    'It has not failed, runs again already, or takes no REPLAY.',
  ],
  'event-taken': ['good', 'Sent', 'The workflow has taken the event.'],
  'event-refused': ['bad', 'Not taken', 'The workflow takes no such event in its state.'],
  'event-invalid': ['bad', 'Not sent', 'The workflow takes no event with these members.'],
  'event-data': ['bad', 'Not sent', 'Choose a type, and give the other members as a JSON object.'],
  'workflow-too-late': ['bad', 'Not cancelled', 'It takes no cancel in its state.'],
  asked: ['good', 'Asked again', 'The signatures of the others stay.'],
  'not-asked': ['bad', 'Not asked', 'The signer has an open prompt, or the step is over.'],
  replayed: ['good', 'Replayed', 'A new attempt has begun.'],
  cancelled: ['good', 'Cancelled', 'The person is not asked any more.'],
  'not-failed': ['bad', 'Not replayed', 'The transaction has not failed, or was replayed already.'],
  login: ['bad', 'Not replayed', 'A login is never replayed: its session has ended.'],
  workflow: [
    'bad',
    'Not replayed',
    'A workflow has asked for it. The workflow asks again, not a replay.',
  ],
  never: ['bad', 'Not replayed', 'This fault is never replayed by this service.'],
  role: ['bad', 'Not allowed', 'Your role does not allow this.'],
  reason: ['bad', 'A reason is needed', 'Say why, in at most 500 characters.'],
  rate: ['bad', 'The rate cannot be read', 'Give a number above 0 and at most 1000.'],
  more: ['bad', 'There are more now', 'Look at the new numbers before you start.'],
  nothing: [
    'bad',
    'There is nothing to do now',
    'The transactions have changed meanwhile, or are gone.',
  ],
  'too-many': [
    'bad',
    'Not replayed',
    'This person has been prompted often enough just now. Try again in ten seconds.',
  ],
  'filter-saved': ['good', 'Saved', 'The filter is above the list, in every browser of yours.'],
  'filter-unnamed': ['bad', 'Not saved', 'Narrow the list, and give the filter a name.'],
  'filter-many': ['bad', 'Not saved', 'You have twenty saved filters. Remove one first.'],
  'none-selected': ['bad', 'Nothing is selected', 'Select transactions in the list first.'],
  'too-late': ['bad', 'Not cancelled', 'It had ended, or the person has answered.'],
  busy: ['bad', 'Not cancelled', 'A worker was busy with it. Try again.'],
  stopping: [
    'good',
    'Stopping',
    'No more transactions are replayed. Prompts that were sent stay on their phones.',
  ],
  'not-running': ['bad', 'Not stopped', 'It is over, or being stopped already.'],
  'user-removed': ['good', 'Removed', 'The user’s sessions and tokens have ended.'],
  'user-changed': ['good', 'Changed', 'The user’s sessions and tokens have ended.'],
  'user-unknown': ['bad', 'Not changed', 'There is no such user.'],
  'user-configured': [
    'bad',
    'Not changed',
    'The user is in the configuration file and is changed there.',
  ],
  'user-with-phone': ['good', 'Added', 'The user logs in with the phone.'],
  'user-by-link': [
    'good',
    'Added',
    'The user logs in by a link, which “paraph users link” with the name prints on the machine of the service, and may have tokens.',
  ],
  'user-number': [
    'bad',
    'Not changed',
    'Give a mobile number with its country code, or a code of the login.',
  ],
  'user-taken': ['bad', 'Not changed', 'The phone belongs to another user.'],
  'links-ended': ['good', 'Ended', 'All sessions and links without a user have ended.'],
  'token-revoked': ['good', 'Ended', 'The token is not valid any more.'],
  'token-unknown': ['bad', 'Not ended', 'There is no such token any more.'],
  'certificate-revoked': ['good', 'Revoked', 'Lists and OCSP answers say so within minutes.'],
  'certificate-renewed': ['good', 'Allowed', 'The devices get new keys at their next use.'],
  'certificate-reassigned': ['good', 'Done', 'The number has a new person.'],
  'certificate-unknown': ['bad', 'Not done', 'There is no such certificate.'],
  'certificate-nothing': [
    'bad',
    'Not done',
    'None of its certificates can be revoked or renewed any more.',
  ],
  oneself: ['bad', 'Not changed', 'Another admin has to change your own user.'],
} as const satisfies Record<string, NoticeText>;

/** The name of a notice of the core. */
type OwnNotice = keyof typeof notices;
export type Notice = OwnNotice | NoticeText;

const named = <T extends object>(table: T, name: string): T[keyof T] | undefined =>
  Object.hasOwn(table, name) ? table[name as keyof T] : undefined;

/**
 * @param name The name in the address, which may be any text.
 * @param frame The frame of the session, which has the notices of parts.
 */
export const readNotice = (
  name: string | undefined,
  frame?: Pick<Frame, 'notices'>,
): NoticeText | undefined =>
  name === undefined ? undefined : (named(notices, name) ?? named(frame?.notices ?? {}, name));

export const noticeBanner = (notice: Notice | undefined): Html => {
  if (notice === undefined) return nothing;
  const [kind, title, text] = typeof notice === 'string' ? notices[notice] : notice;
  return banner(kind, title, text);
};
