/** What a signer's page shows and does. The state of a signer is that of its chart. */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import type { Workflow } from '../../../packages/engine/src/define.ts';
import type { Engine, Instance } from '../../../packages/engine/src/engine.ts';
import {
  type ChildActor,
  childAt,
  namesIn,
  readAddress,
} from '../../../packages/engine/src/record.ts';
import { type PageLanguage, pageLanguages } from '../../../src/http/pages/languages.ts';
import type { AdditionTask } from '../addition.ts';
import { endedSigner, type ProcessContext } from '../charts/process-progress.ts';
import { publishProcess } from '../charts/process-report.ts';
import { maxAsks, promptSeconds } from '../charts/signer.machine.ts';
import type { SignerContext, SignerOrder } from '../charts/signer-contract.ts';
import type { Link } from './links.ts';

/** Why the last prompt led to nothing. */
export type AskProblem = 'expired' | 'unreachable' | 'busy' | 'limited' | 'failed';

/**
 * open    The person may press Sign, unless `mayAsk` is false: then there were too many prompts.
 * asking  The phone shows the prompt until `deadline`, in milliseconds since the epoch.
 * ended   Nothing can be done any more.
 */
export type TaskState =
  | { readonly kind: 'open'; readonly mayAsk: boolean; readonly problem?: AskProblem | undefined }
  | { readonly kind: 'asking'; readonly deadline: number }
  | {
      readonly kind: 'ended';
      readonly how: 'signed' | 'refused' | 'withdrawn';
      readonly at: number;
    };

export interface Task {
  /** Who asks, as people know them. */
  readonly application: string;
  /** What for; undefined where the application has not said it. */
  readonly title?: string | undefined;
  readonly step: string;
  readonly name: string;
  /** Digits. */
  readonly msisdn: string;
  readonly text: string;
  /** What the application asked for; undefined for the browser's. */
  readonly language?: PageLanguage | undefined;
  /** For another part, which adds something to what is signed. */
  readonly addition?: AdditionTask | undefined;
  /** Who has signed already, in order. */
  readonly signed: readonly { readonly name: string; readonly at: number }[];
  readonly state: TaskState;
}

/** busy: nothing has happened; the same may be tried again. */
export type Done = 'done' | 'busy';

export const maxReasonLength = 500;

/** A signer of a process, in its current state. */
export interface Signer {
  readonly process: Instance;
  /** The state value of its chart; undefined when it has ended. */
  readonly value: unknown;
  readonly context: SignerContext;
}

/** @returns Undefined when it is gone, or its links are of another version. */
export const findSigner = async (
  engine: Pick<Engine, 'find'>,
  { instance: id, version }: Link,
): Promise<Signer | undefined> => {
  const address = readAddress(id);
  const process = await engine.find(address.id);
  const { record } = process ?? {};
  if (process === undefined || record === undefined) return undefined;
  const child = childAt(record, address.path) as ChildActor | undefined;
  const [name = ''] = namesIn(address.path);
  const live = child?.chart?.status === 'active' ? child.chart : undefined;
  const context =
    live === undefined
      ? endedSigner(record.context as ProcessContext, name)
      : (live.context as SignerContext);
  if (context?.linkVersion !== version) return undefined;
  return { process, value: live?.value, context };
};

/** What the pages of another part are told; undefined where it adds nothing to this signer. */
export const additionTaskOf = ({ process, context }: Signer): AdditionTask | undefined => {
  const { apId, addition, child } = context;
  return (
    addition && {
      apId,
      instance: process.id,
      createdAt: process.createdAt,
      child,
      ...addition,
    }
  );
};

/** A turn takes milliseconds, where a worker runs. */
const maxTurnMs = 2000;

const openSchema = z.object({ open: z.object({ asking: z.string() }) });

const problems: ReadonlyMap<number, AskProblem> = new Map([
  [208, 'expired'],
  [209, 'unreachable'],
  [406, 'busy'],
]);

export const stateOf = ({ process, value, context }: Signer, now: number): TaskState => {
  const { end, since, asks, limitedUntil = 0 } = context;
  if (end !== undefined) return { kind: 'ended', how: end.kind, at: end.at };
  const { data } = openSchema.safeParse(value);
  const isOpen = process.ended === 'no' && process.record?.status === 'active';
  // The process was cancelled as a whole.
  if (!isOpen) return { kind: 'ended', how: 'withdrawn', at: since };
  const last = asks.at(-1);
  const asking = data?.open.asking;
  if (asking === 'prompting' && last !== undefined)
    return { kind: 'asking', deadline: last.at + promptSeconds * 1000 };
  const isLimited = limitedUntil > now;
  const problem = last?.code === undefined ? undefined : (problems.get(last.code) ?? 'failed');
  return { kind: 'open', mayAsk: asks.length < maxAsks, problem: isLimited ? 'limited' : problem };
};

export const languageOf = (language: string | undefined) =>
  pageLanguages.find((known) => known === language?.toLowerCase());

export const createTasks = ({
  engine,
  workflow,
  applicationName,
  now,
}: {
  readonly engine: Pick<Engine, 'find' | 'send'>;
  /** The workflow whose child a signer is. */
  readonly workflow: Workflow;
  /** How people know an application. */
  readonly applicationName: (apId: string) => string;
  readonly now: () => number;
}) => {
  const signedIn = ({ record }: Instance): Task['signed'] => {
    const context = record?.context as ProcessContext | undefined;
    if (context === undefined) return [];
    return publishProcess(context)
      .steps.flatMap(({ signers }) => signers)
      .flatMap(({ name, state, at }) =>
        state === 'signed' && at !== undefined ? [{ name, at }] : [],
      )
      .sort((one, other) => one.at - other.at);
  };

  /**
   * The event is durable before its turn has run, and the page that follows must show what it did.
   * The instance keeps each event, so one that its chart cannot take now is not sent.
   */
  const send = async (
    link: Link,
    order: SignerOrder,
    maySend: (state: TaskState) => boolean,
    isDone: (state: TaskState, after: SignerContext, before: SignerContext) => boolean,
  ): Promise<Done> => {
    const before = await findSigner(engine, link);
    if (before === undefined || !maySend(stateOf(before, now()))) return 'done';
    const sent = await engine.send(workflow, link.instance, randomUUID(), order, { judged: true });
    if (sent !== 'taken') return sent === 'busy' ? 'busy' : 'done';
    const until = performance.now() + maxTurnMs;
    for (let pauseMs = 5; performance.now() < until; pauseMs = Math.min(pauseMs * 1.5, 100)) {
      const found = await findSigner(engine, link);
      if (found === undefined || isDone(stateOf(found, now()), found.context, before.context))
        break;
      await delay(pauseMs);
    }
    return 'done';
  };

  return {
    /** @returns Undefined for a link that is revoked or whose signer is unknown by now. */
    find: async (link: Link): Promise<Task | undefined> => {
      const found = await findSigner(engine, link);
      if (found === undefined) return undefined;
      const { apId, process, step, person } = found.context;
      const { name, msisdn, text, language } = person;
      const state = stateOf(found, now());
      return {
        application: applicationName(apId),
        title: process.title,
        step,
        name,
        msisdn,
        text,
        state,
        language: languageOf(language),
        addition: additionTaskOf(found),
        signed: state.kind === 'ended' ? [] : signedIn(found.process),
      };
    },
    /** Whether the phone shows the prompt. Costs one read. */
    isAsking: async (link: Link): Promise<boolean> => {
      const found = await findSigner(engine, link);
      return found !== undefined && stateOf(found, now()).kind === 'asking';
    },
    /** Asks the phone. Does nothing when the signer's state does not allow it. */
    sign: (link: Link) =>
      send(
        link,
        { type: 'SIGN' },
        (state) => state.kind === 'open' && state.mayAsk && state.problem !== 'limited',
        ({ kind }, { asks, limitedUntil }, before) =>
          kind !== 'open' ||
          asks.length !== before.asks.length ||
          limitedUntil !== before.limitedUntil,
      ),
    /** @param reason For the application; up to {@link maxReasonLength} characters. */
    decline: (link: Link, reason: string | undefined) =>
      send(
        link,
        { type: 'DECLINE', reason },
        ({ kind }) => kind !== 'ended',
        ({ kind }) => kind === 'ended',
      ),
  };
};

export type Tasks = ReturnType<typeof createTasks>;
