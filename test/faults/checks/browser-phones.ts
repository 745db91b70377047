/**
 * Invariant: a phone in a browser shows a prompt once and never again after its end, and one thing
 * ends it.
 */
import type { PhoneNote } from '../browser-phones.ts';
import type { Check } from '../evidence.ts';

const grouped = (
  notes: readonly PhoneNote[],
  keyOf: (note: PhoneNote) => string,
): ReadonlyMap<string, readonly PhoneNote[]> => {
  const groups = new Map<string, PhoneNote[]>();
  for (const note of notes) groups.set(keyOf(note), [...(groups.get(keyOf(note)) ?? []), note]);
  return groups;
};

/** @param prompt `<MSSP_TransID>.<attempt>` */
const readPrompt = (prompt: string): { readonly id: string; readonly attempt: number } => {
  const [id = '', attempt] = prompt.split('.');
  return { id, attempt: Number(attempt) };
};

const shownOnce: Check = function* ({ phones }) {
  const rule = 'a phone in a browser never shows a prompt as two';
  for (const { prompt, times } of phones)
    if (times > 1)
      yield { rule, id: readPrompt(prompt).id, says: `${prompt} was shown ${times} times at once` };
  for (const [text, notes] of grouped(phones, (note) => note.text)) {
    const ids = new Set(notes.map(({ prompt }) => readPrompt(prompt).id));
    if (ids.size > 1)
      yield { rule, id: [...ids][0], says: `"${text}" was shown as ${[...ids].join(' and ')}` };
  }
};

const endsOnce: Check = function* ({ phones, jobs }) {
  for (const [prompt, notes] of grouped(phones, (note) => note.prompt)) {
    const { id, attempt } = readPrompt(prompt);
    const ends = notes.filter(({ kind }) => kind === 'signed' || kind === 'cancelled');
    const taken = new Set(ends.map(({ kind }) => kind));
    if (taken.size > 1)
      yield {
        rule: 'one thing ends a prompt',
        id,
        says: `${prompt} was ${[...taken].join(' and ')}`,
      };
    const first = Math.min(...ends.map(({ to }) => to));
    if (notes.some(({ kind, from }) => kind === 'shown' && from > first))
      yield {
        rule: 'a prompt that has ended does not come back',
        id,
        says: `${prompt} was shown again`,
      };
    const job = jobs.get(id);
    const entry = job?.record?.history.find(
      (each) => each.attempt === attempt && ['signed', 'failed'].includes(each.state),
    );
    const came = entry?.state === 'failed' ? `fault ${entry.fault?.code}` : entry?.state;
    const promised = taken.has('signed')
      ? 'signed'
      : taken.has('cancelled')
        ? 'fault 401'
        : undefined;
    if (promised !== undefined && came !== promised)
      yield {
        rule: 'what a phone was told is what came',
        id,
        says: `${prompt}: ${promised}, and then ${came}`,
      };
  }
};

export const browserPhoneChecks: readonly Check[] = [shownOnce, endsOnce];
