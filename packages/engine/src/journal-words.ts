/**
 * The journal of an instance in words: the same for the console, the command line and rehearsals.
 */
import type { ActivityStage, JournalEntry, ToldError } from './journal.ts';
import { namesIn } from './record.ts';

/** The path of a state in words: `steps.open`. */
const statePathText = (path: string): string => namesIn(path).join('.');

const errorWords = ({ name, message, code }: ToldError): string =>
  [
    name,
    ...(code === undefined ? [] : [`(${code})`]),
    ...(message === undefined ? [] : [`– ${message}`]),
  ].join(' ');

const stageWords: Readonly<Record<ActivityStage, string>> = {
  begun: 'begun',
  done: 'done',
  failed: 'failed',
  later: 'is answered later',
  released: 'given back by a process that stops',
  left: 'given up: its state was left',
};

export interface EntryWords {
  /** The kind of the entry: `state`, `event`, … */
  readonly what: string;
  /** The path of the child chart, with dots; empty for the instance itself. */
  readonly where: string;
  readonly text: string;
  readonly error?: string | undefined;
}

/** An entry in words, the same for the console, the command line and rehearsals. */
export const wordsOf = (entry: JournalEntry): EntryWords => {
  const { kind: what, path } = entry;
  const names = namesIn(path);
  // The path of an activity or a child ends with itself.
  const isItself = what === 'activity' || what === 'child';
  const where = (isItself ? names.slice(0, -1) : names).join('.');
  switch (entry.kind) {
    case 'state':
      return { what, where, text: entry.entered.map(statePathText).join(', ') };
    case 'event': {
      const { type, result, key, times } = entry;
      const often = times === undefined ? '' : `, ${times} times`;
      return {
        what,
        where,
        text: `${type} ${result}${often}${key === undefined ? '' : ` (${key})`}`,
      };
    }
    case 'activity': {
      const { name, attempt, stage, error, tookMs } = entry;
      const tried = attempt > 1 || stage === 'failed' ? `, try ${attempt}` : '';
      const took = tookMs === undefined ? '' : `, ${tookMs} ms`;
      return {
        what,
        where,
        text: `${name} ${stageWords[stage]}${tried}${took}`,
        error: error && errorWords(error),
      };
    }
    case 'timer':
      return { what, where, text: entry.name };
    case 'effect':
      return {
        what,
        where,
        text: `${entry.name}${entry.isPending ? ' (not carried out yet)' : ''}`,
      };
    case 'child':
      return {
        what,
        where,
        text: `${entry.name} ${entry.stage === 'left' ? 'stopped' : entry.stage}`,
        error: entry.error && errorWords(entry.error),
      };
    case 'error':
      return { what, where, text: 'the chart has failed', error: errorWords(entry.error) };
  }
};

/** An entry as one line: `state    steps.open  (in line)`. */
export const entryText = (entry: JournalEntry): string => {
  const { what, where, text, error } = wordsOf(entry);
  const why = error === undefined ? '' : `: ${error}`;
  return `${what.padEnd(8)} ${text}${why}${where === '' ? '' : `  (in ${where})`}`;
};
