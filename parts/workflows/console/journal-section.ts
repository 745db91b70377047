/**
 * The journal of an instance as a timeline. The tries of one activity are one entry, with the time
 * and the error of each try folded below it, so that ten tries do not hide what came of them.
 */
import { html } from 'hono/html';
import type { JournalEntry, ReadJournal, ToldError } from '../../../packages/engine/src/journal.ts';
import { wordsOf } from '../../../packages/engine/src/journal-words.ts';
import { namesIn } from '../../../packages/engine/src/record.ts';
import {
  counted,
  duration,
  fullTime,
  type Html,
  nothing,
  timeOf,
} from '../../../src/console/pages/markup.ts';
import { shownText } from '../../../src/http/pages/shown-text/shown-text.js';

type ActivityEntry = Extract<JournalEntry, { readonly kind: 'activity' }>;

/** One try of an activity. */
interface Try {
  readonly number: number;
  readonly begunAt: number;
  /** Its last entry; the first one while it runs. */
  readonly last: ActivityEntry;
}

/** An activity with its tries, or any other entry. */
export type Step =
  | { readonly kind: 'entry'; readonly entry: JournalEntry }
  | { readonly kind: 'tries'; readonly at: number; readonly tries: readonly Try[] };

/** Puts the tries of an activity together, at the place of the first. */
export const stepsOf = (entries: readonly JournalEntry[]): readonly Step[] => {
  const steps: (Step | { readonly kind: 'tries'; readonly at: number; readonly tries: Try[] })[] =
    [];
  /** The open tries of each activity, by its path and name. */
  const open = new Map<string, Try[]>();
  for (const entry of entries) {
    if (entry.kind !== 'activity') {
      steps.push({ kind: 'entry', entry });
      continue;
    }
    const key = JSON.stringify([entry.path, entry.name]);
    const before = open.get(key);
    const last = before?.at(-1);
    if (before === undefined || last === undefined || entry.attempt < last.number) {
      const tries = [{ number: entry.attempt, begunAt: entry.at, last: entry }];
      open.set(key, tries);
      steps.push({ kind: 'tries', at: entry.at, tries });
    } else if (entry.attempt > last.number) {
      before.push({ number: entry.attempt, begunAt: entry.at, last: entry });
    } else if (entry.stage === 'begun' && last.last.stage !== 'begun') {
      // The same state was entered again.
      const tries = [{ number: entry.attempt, begunAt: entry.at, last: entry }];
      open.set(key, tries);
      steps.push({ kind: 'tries', at: entry.at, tries });
    } else {
      before[before.length - 1] = { ...last, last: entry };
    }
  }
  return steps;
};

/** The error of the last activity that has failed, with the number of its tries. */
export const lastFailure = (
  entries: readonly JournalEntry[],
): { readonly name: string; readonly tries: number; readonly error: ToldError } | undefined => {
  const step = stepsOf(entries).findLast(
    (each) => each.kind === 'tries' && each.tries.at(-1)?.last.stage === 'failed',
  );
  if (step?.kind !== 'tries') return undefined;
  const last = step.tries.at(-1)?.last;
  return last?.error && { name: last.name, tries: last.attempt, error: last.error };
};

const placeText = (path: string, isActivity: boolean): Html => {
  const names = namesIn(path);
  const where = (isActivity ? names.slice(0, -1) : names).join('.');
  return where === '' ? nothing : html` <span class="quiet">in ${shownText(where)}</span>`;
};

const when = (at: number): Html =>
  html`<p><span class="attempt">${timeOf(at, fullTime(at))}</span></p>`;

const entryItem = (entry: JournalEntry): Html => {
  const { what, where, text, error } = wordsOf(entry);
  const isBad = error !== undefined || ('result' in entry && entry.result === 'refused');
  return html`<li class="${isBad ? 'failed' : 'pending'}"><p><span class="quiet">${what}</span> <strong>${shownText(text)}</strong>${where === '' ? nothing : html` <span class="quiet">in ${shownText(where)}</span>`}</p>${
    error === undefined ? nothing : html`<p>${shownText(error)}</p>`
  }${when(entry.at)}</li>`;
};

const tookOf = ({ begunAt, last }: Try): Html => {
  const ms = last.tookMs ?? last.at - begunAt;
  return last.stage === 'begun' ? nothing : html` <span class="quiet">${duration(ms)}</span>`;
};

const tryItem = (one: Try): Html => {
  const { error } = wordsOf(one.last);
  const { stage } = one.last;
  const mark = { failed: 'failed', done: 'done' }[stage as string] ?? 'running';
  return html`<li class="try"><p><span class="state ${mark}">Try ${one.number} ${stage}</span>${tookOf(one)} <span class="attempt">${timeOf(one.begunAt, fullTime(one.begunAt))}</span></p>${
    error === undefined ? nothing : html`<p>${shownText(error)}</p>`
  }</li>`;
};

const triesItem = ({ at, tries }: Extract<Step, { kind: 'tries' }>): Html => {
  const last = tries.at(-1);
  if (last === undefined) return nothing;
  const { error, text } = wordsOf(last.last);
  const { stage } = last.last;
  const kind = { done: 'signed', failed: 'failed' }[stage as string] ?? 'pending';
  const all =
    tries.length === 1
      ? nothing
      : html`<details><summary>${counted(tries.length, 'try', 'tries')}</summary><ol class="tries">${tries.map(tryItem)}</ol></details>`;
  return html`<li class="${kind}"><p><span class="quiet">activity</span> <strong>${shownText(text)}</strong>${last.last.tookMs === undefined ? tookOf(last) : nothing}${placeText(last.last.path, true)}</p>${
    error === undefined ? nothing : html`<p>${shownText(error)}</p>`
  }${all}${when(at)}</li>`;
};

export const journalSection = ({ entries, dropped }: ReadJournal): Html => {
  const steps = stepsOf(entries);
  return steps.length === 0
    ? nothing
    : html`<details id="journal" open><summary>Journal: ${counted(steps.length, 'step')}</summary>${
        dropped === 0
          ? nothing
          : html`<p class="quiet">${counted(dropped, 'older entry', 'older entries')} no longer kept.</p>`
      }<ol class="timeline">${steps.map((step) =>
        step.kind === 'entry' ? entryItem(step.entry) : triesItem(step),
      )}</ol><p class="quiet">The log of the workers has each try that failed, with the id of the instance.</p></details>`;
};
