import type { NoticeText } from '../../src/console/part.ts';
import { callbacksPerSecond } from './replays.ts';

const { min, max } = callbacksPerSecond;

export const callbackNotices = {
  'callback-replayed': ['good', 'Replayed', 'The callback begins with its first try again.'],
  'callback-not-dead': [
    'bad',
    'Not replayed',
    'It has been delivered, or will be tried again by itself.',
  ],
  'callback-rate': ['bad', 'The rate cannot be read', `Give a number from ${min} to ${max}.`],
  'callback-reason': ['bad', 'The reason is too long', 'Say why in at most 500 characters.'],
} as const satisfies Record<string, NoticeText>;
