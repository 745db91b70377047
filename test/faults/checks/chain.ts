/**
 * What is promised of services behind each other: judged by what the callers of the near one were
 * told, what the far one has, and what its phones have shown.
 */
import type { PhoneNote } from '../browser-phones.ts';
import type { Told } from '../journal.ts';
import { isOutcome } from './told.ts';

/** A request as its caller knows it. The text is its own alone. */
export interface Sent {
  readonly text: string;
  /** A robot signs whatever happens; the others may decline or be busy. */
  readonly isRobot: boolean;
  /** At the near service; without it nobody acknowledged the request. */
  readonly id?: string | undefined;
  readonly final?: Told | undefined;
}

/** A transaction of the far service, asked for there. */
export interface FarTransaction {
  readonly id: string;
  readonly text: string;
  readonly final: Told;
}

export interface ChainEvidence {
  readonly sent: readonly Sent[];
  readonly far: readonly FarTransaction[];
  readonly phones: readonly PhoneNote[];
  /** Processes that ended by themselves. */
  readonly crashes: readonly string[];
}

const describe = (told: Told | undefined): string =>
  told?.kind === 'fault' ? `fault ${told.code} ${told.detail}` : (told?.kind ?? 'nothing');

/** Equal for equal ends: the same signature byte for byte, or the same fault. */
const endOf = (told: Told | undefined): string => {
  if (told?.kind === 'signed') return told.signature;
  return told?.kind === 'fault' ? `fault ${told.code}` : describe(told);
};

/** @returns What was broken, with the rule first. */
export const chainViolations = ({
  sent,
  far,
  phones,
  crashes,
}: ChainEvidence): readonly string[] => {
  const violations = crashes.map((name) => `no process ends by itself: ${name} did`);
  for (const { text, isRobot, id, final } of sent) {
    const there = far.filter((each) => each.text === text);
    if (there.length > 1)
      violations.push(
        `nobody is asked twice: ${text} is ${there.map((each) => each.id).join(' and ')}`,
      );
    const prompts = phones.filter((note) => note.text === text && note.kind === 'shown');
    const shown = new Set(prompts.map(({ prompt }) => prompt));
    if (shown.size > 1 || prompts.some(({ times }) => times > 1))
      violations.push(
        `a phone shows one prompt once: ${text} was shown as ${[...shown].join(' and ')}`,
      );
    if (id === undefined) continue;
    const [only] = there;
    if (final === undefined || !isOutcome(final))
      violations.push(`what was acknowledged ends: ${id} (${text}) says ${describe(final)}`);
    else if (only === undefined)
      violations.push(
        `what was acknowledged reaches the phone: ${id} (${text}) says ${describe(final)}`,
      );
    else if (endOf(final) !== endOf(only.final))
      violations.push(
        `both ends say the same: ${id} (${text}) says ${describe(final)}, there ${describe(only.final)}`,
      );
    else if (isRobot && final.kind !== 'signed')
      violations.push(`what a robot is asked is signed: ${id} (${text}) says ${describe(final)}`);
    const isTaken = phones.some((note) => note.text === text && note.kind === 'signed');
    if (isTaken && final?.kind !== 'signed')
      violations.push(`what a phone has signed is signed: ${id} (${text}) says ${describe(final)}`);
  }
  return violations;
};
