/**
 * The text at the start of a sandbox. It says how a browser becomes the phone of its own number.
 */
import { renderUnicodeCompact } from 'uqr';
import { defaultUrl } from '../../src/environment/environment.ts';
import { sandboxPhoneNumber } from './subscribers.ts';

/**
 * Bright squares are drawn, so that a camera can read the code on a dark screen.
 *
 * @param url Where the service listens.
 */
export const greetingWith = (link: string, url: string): readonly string[] => [
  'Open this link or scan it, once, within fifteen minutes: the browser becomes your phone.',
  `Then ask it to sign: npx paraph sign +${sandboxPhoneNumber} "Sign in to Example?"${url === defaultUrl ? '' : ` --url ${url}`}`,
  '',
  link,
  '',
  ...renderUnicodeCompact(link, { border: 2 }).split('\n'),
];
