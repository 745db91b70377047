/** What the console shows of a process: the steps with their people, and what has happened. */
import { html } from 'hono/html';
import { readJobName } from '../../../packages/engine/src/define.ts';
import type { Instance } from '../../../packages/engine/src/engine.ts';
import {
  type ChartRecord,
  type ChildActor,
  isActivity,
} from '../../../packages/engine/src/record.ts';
import { nothing } from '../../../src/console/pages/markup.ts';
import type { HostedConsole, HostedPage, WorkflowEvent } from '../../workflows/index.ts';
import type { AdditionConsole } from '../addition.ts';
import { isStep } from '../charts/process-plan.ts';
import { itemsOf, type ProcessContext } from '../charts/process-progress.ts';
import { publishProcess, type StepView } from '../charts/process-report.ts';
import type { SignerContext } from '../charts/signer-contract.ts';
import { processName } from '../names.ts';
import { peopleSection } from './people.ts';

/** Returns undefined when `read` throws, because other programs may have written the record. */
const attempt = <T>(read: () => T): T | undefined => {
  try {
    return read();
  } catch {
    return undefined;
  }
};

const said = {
  signed: 'Signed',
  revoked: 'Signed',
  refused: 'Refused',
  unreached: 'Not reached',
  rests: 'Not reached',
} as const;

const noMail = 'Mail not delivered';
const withCode = (what: string, code: number | undefined): string =>
  code === undefined ? what : `${what}: ${code}`;

const processEvents = (
  context: ProcessContext,
  steps: readonly StepView[],
): readonly WorkflowEvent[] => [
  ...itemsOf(context).flatMap((item, index) => {
    const { since, at, state } = context.progress[index] ?? {};
    if (since === undefined) return [];
    if (!isStep(item)) return 'revoke' in item ? [{ at: since, what: 'Signatures revoked' }] : [];
    const who = item.name;
    const begun = state === 'skipped' ? [] : [{ at: since, what: 'Step begun', who }];
    return at === undefined ? begun : [...begun, { at, what: `Step ${state}`, who }];
  }),
  ...steps.flatMap(({ signers }) =>
    signers.flatMap(({ name, state, at, msspTransId, reason, code, undelivered }) => {
      const mail = undelivered && {
        at: undelivered.at,
        what: withCode(noMail, undelivered.code),
        who: name,
      };
      const events: readonly WorkflowEvent[] = mail === undefined ? [] : [mail];
      const what = said[state as keyof typeof said];
      if (at === undefined || what === undefined) return events;
      return [...events, { at, what: withCode(what, code), who: name, msspTransId, reason }];
    }),
  ),
];

const promptsOf = ({ asks, person }: SignerContext): readonly WorkflowEvent[] =>
  asks.map(({ at, msspTransId }) => ({ at, what: 'Prompted', who: person.name, msspTransId }));

/** Hides the names and words of people, which only operators see. */
const hideStep = (step: StepView): StepView => ({
  ...step,
  signers: step.signers.map(({ reason: _, ...signer }) => ({ ...signer, name: '' })),
});

const kindOf = (what: string): 'signed' | 'failed' | undefined => {
  if (what.startsWith('Step done')) return 'signed';
  return /^(Refused|Not reached|Mail not|Step failed|Signatures revoked)/.test(what)
    ? 'failed'
    : undefined;
};

/** @param addition What another part shows of a process. */
export const createDetailOf =
  (addition?: AdditionConsole): HostedConsole['detailOf'] =>
  async ({ id, createdAt, jobName, record }, children, isSeen) => {
    if (readJobName(jobName).name !== processName) return undefined;
    const context = record?.context as ProcessContext | undefined;
    const view = context && attempt(() => publishProcess(context));
    const steps = view?.steps;
    const events = steps && context ? (attempt(() => processEvents(context, steps)) ?? []) : [];
    const prompts = children.flatMap(
      ({ chart }) => attempt(() => promptsOf(chart.context as SignerContext)) ?? [],
    );
    const shown = isSeen ? steps : steps?.map(hideStep);
    const { steps: _, title: __, failure: ___, ...members } = view ?? {};
    const process = { instance: id, createdAt };
    const added = isSeen ? await addition?.toldOf(process, members, steps ?? []) : undefined;
    const more = (page: HostedPage) =>
      added === undefined ? nothing : (addition?.section(added, page) ?? nothing);
    return {
      told: { ...added, steps: shown },
      events: [...events, ...prompts],
      kindOf,
      section: (page) =>
        shown === undefined ? nothing : html`${peopleSection(page, shown)}${more(page)}`,
    };
  };

/**
 * The MSSP_TransIDs in the record of a process and its signers. Other programs may have written it.
 */
export const keptBy = ({ record }: Instance): readonly string[] => {
  if (record?.workflow !== processName) return [];
  const askedBy = ({ context }: ChartRecord): readonly string[] => {
    const { asks = [] } = Object(context) as Partial<SignerContext>;
    return asks.flatMap(({ msspTransId }) => msspTransId ?? []);
  };
  try {
    const context = record.context as ProcessContext;
    const signers = Object.values(record.children ?? {}).flatMap((child) =>
      isActivity(child) ? [] : ((child as ChildActor).chart ?? []),
    );
    return [
      ...itemsOf(context).flatMap((_, index) =>
        (context.progress[index]?.branches ?? []).flatMap(({ msspTransId }) => msspTransId ?? []),
      ),
      ...signers.flatMap(askedBy),
    ];
  } catch {
    return [];
  }
};
