/**
 * The result of a form, shown by the page after the redirect. The address has the name of the
 * notice, not its text, so that no link can put text on a page.
 */

import { noticeOf, type OrderErrorName, orderErrors } from '../order-errors.ts';
import type { Frame, NoticeText } from '../part.ts';
import { banner, type Html, nothing } from './markup.ts';

const notices = {
  replayed: ['good', 'Replayed', 'A new attempt has begun.'],
  cancelled: ['good', 'Cancelled', 'The person is not asked any more.'],
  more: ['bad', 'There are more now', 'Look at the new numbers before you start.'],
  'filter-saved': ['good', 'Saved', 'The filter is above the list, in every browser of yours.'],
  'filter-unnamed': ['bad', 'Not saved', 'Narrow the list, and give the filter a name.'],
  'filter-many': ['bad', 'Not saved', 'You have twenty saved filters. Remove one first.'],
  'none-selected': ['bad', 'Nothing is selected', 'Select transactions in the list first.'],
  stopping: [
    'good',
    'Stopping',
    'No more transactions are replayed. Prompts that were sent stay on their phones.',
  ],
  'user-removed': ['good', 'Removed', 'The user’s sessions and tokens have ended.'],
  'user-changed': ['good', 'Changed', 'The user’s sessions and tokens have ended.'],
  'user-with-phone': ['good', 'Added', 'The user logs in with the phone.'],
  'user-by-link': [
    'good',
    'Added',
    'The user logs in by a link, which “paraph users link” with the name prints on the machine of the service, and may have tokens.',
  ],
  'links-ended': ['good', 'Ended', 'All sessions and links without a user have ended.'],
  'token-revoked': ['good', 'Ended', 'The token is not valid any more.'],
  'token-unknown': ['bad', 'Not ended', 'There is no such token any more.'],
} as const satisfies Record<string, NoticeText>;

/** One of the core, by its name. */
type OwnNotice = keyof typeof notices | OrderErrorName;
export type Notice = OwnNotice | NoticeText;

const named = <T extends object>(table: T, name: string): T[keyof T] | undefined =>
  Object.hasOwn(table, name) ? table[name as keyof T] : undefined;

const ownNotice = (name: string): NoticeText | undefined => {
  const error = named(orderErrors, name);
  return error === undefined ? named(notices, name) : noticeOf(error);
};

/**
 * @param name The name in the address, which may be any text.
 * @param frame The frame of the session, which has the notices of parts.
 */
export const readNotice = (
  name: string | undefined,
  frame?: Pick<Frame, 'notices'>,
): NoticeText | undefined =>
  name === undefined ? undefined : (ownNotice(name) ?? named(frame?.notices ?? {}, name));

export const noticeBanner = (notice: Notice | undefined): Html => {
  const text = typeof notice === 'string' ? ownNotice(notice) : notice;
  return text === undefined ? nothing : banner(...text);
};
