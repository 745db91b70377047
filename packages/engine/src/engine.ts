/**
 * Starts instances of workflows, sends them events, answers their activities and reads their state.
 * Any process may do this. Workers run the turns (worker.ts).
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { crc32 } from 'node:zlib';
import type { Queue } from 'bullmq';
import type { AnyEventObject, AnyMachineSnapshot, AnyStateMachine } from 'xstate';
import { endKey, readToken } from './activities.ts';
import { type Added, firstEntry, readAdded, writeAdded } from './added.ts';
import { begunJob, jobNameOf, readData, type Workflow } from './define.ts';
import { problemIn } from './input-problem.ts';
import { createInstances, type Instances } from './instances.ts';
import { begin, doneEvent, errorEvent, type Life, resume } from './interpret.ts';
import { type ReadJournal, readLines, refusalLine } from './journal.ts';
import {
  childAt,
  type InstanceRecord,
  isActivity,
  readAddress,
  readRecord,
  recordToRetry,
} from './record.ts';
import type { RedisClient } from './redis/client.ts';
import { outsideKeys } from './redis/deliver-script.ts';
import {
  createInstanceStore,
  type DeliverOptions,
  type Delivery,
  type Foreseen,
  type InstanceStore,
  isJobId,
  type StoredInstance,
} from './redis/instance-store.ts';
import { encode, encodeInput } from './values.ts';

/**
 * taken     The event is durable. The chart takes it, or decides in order. For an event that was
 *           sent before: the chart took it.
 * refused   The chart has no transition for it in its state.
 * finished  The instance has ended.
 * unknown   There is no such instance.
 * busy      The first turn takes too long, or a hundred events wait: send again.
 */
export type SendResult = 'taken' | 'refused' | 'finished' | 'unknown' | 'busy';

export interface Instance {
  readonly id: string;
  readonly jobName: string;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  /** Milliseconds since the epoch; undefined while the instance is open. */
  readonly endedAt: number | undefined;
  /** The data of the job, as it was added. */
  readonly data: unknown;
  /** Undefined before the first turn. */
  readonly record: InstanceRecord | undefined;
  readonly ended: 'no' | 'completed' | 'failed';
  /**
   * Whether its end is stored, so that events are refused. Effects are still carried out before its
   * job ends.
   */
  readonly isClosed: boolean;
  /** The return value of its job, when it has completed. */
  readonly result: unknown;
  readonly failedReason: string | undefined;
}

/** The place at which an instance is stored. */
export interface Location {
  readonly queue: Queue;
  readonly store: InstanceStore;
}

export type Locate = (id: string) => Location;

/**
 * Spreads instances over queues by their ids. In a cluster each queue has a slot of its own.
 *
 * @param queues At least one, and always the same in the same order.
 */
export const spreadOver = (
  queues: readonly Queue[],
  redis: RedisClient,
  now: () => number,
): Locate => {
  const locations = queues.map((queue) => ({
    queue,
    store: createInstanceStore(queue, redis, now),
  }));
  return (id) => {
    const home = locations[locations.length === 1 ? 0 : crc32(id) % locations.length];
    if (home === undefined) throw new TypeError('queues: there must be one');
    return home;
  };
};

/** What `can` answers. `undecided`: only a turn can tell. */
export type Foresight = Exclude<SendResult, 'busy'> | 'undecided';

export interface Engine {
  /** The instances of a workflow, typed by its machine. Programs use the engine through it. */
  of<Machine extends AnyStateMachine, Input>(
    workflow: Workflow<Machine, Input>,
  ): Instances<Machine, Input>;
  /**
   * Makes an instance durable. An instance that exists under the id stays as it is.
   *
   * @param id Letters, digits, `-` and `_`, not digits alone.
   * @param options.first An event that is stored in the same step, under its key from outside.
   * @param options.answerTo The token of the activity that waits for the end (other.ts).
   * @throws SchemaError when the input is not what the workflow takes; UnstorableError.
   */
  start(
    workflow: Workflow,
    id: string,
    input?: unknown,
    options?: Pick<Added, 'answerTo'> & {
      readonly delayMs?: number;
      readonly first?:
        | { readonly key: string; readonly event: { readonly type: string } }
        | undefined;
    },
  ): Promise<'started' | 'exists'>;
  /**
   * @param address The address of an instance, or of a child chart in it (`addressOf`).
   * @param key Unique for the event, up to 1000 characters. Sent again under its key it is applied
   *   once, until two hundred others have come.
   * @param options.judged Waits until the chart has taken or refused it.
   * @param options.sentOnce It is never sent again under this key, so a refusal stores nothing.
   * @throws SchemaError when the workflow takes no such event from outside; UnstorableError.
   */
  send(
    workflow: Workflow,
    address: string,
    key: string,
    event: { readonly type: string },
    options?: {
      readonly judged?: boolean;
      readonly sentOnce?: boolean;
    },
  ): Promise<SendResult>;
  /** What a send would do now. Changes nothing. @throws As `send`. */
  can(workflow: Workflow, address: string, event: { readonly type: string }): Promise<Foresight>;
  /**
   * Answers an activity that has returned `later`. The first answer counts.
   *
   * @param found The instance, where the caller has just read it: it is not read a second time when
   *   it says that the activity waits.
   * @throws UnstorableError
   */
  answer(
    token: string,
    answer: { readonly output: unknown } | { readonly error: unknown },
    found?: Instance,
  ): Promise<SendResult>;
  /**
   * Ends the instance without asking its chart. An instance that has ended stays as it is.
   */
  stop(id: string, reason?: string): Promise<SendResult>;
  find(id: string): Promise<Instance | undefined>;
  /**
   * The last two hundred lines of the journal of an instance, or some more. Empty for an instance
   * without a journal, and for one that is unknown.
   */
  journal(id: string): Promise<ReadJournal>;
  /**
   * Resolves when the instance has ended. It polls, so it is for few instances.
   *
   * @throws When the signal aborts, and for an instance that is unknown.
   */
  ended(id: string, signal?: AbortSignal): Promise<Instance>;
  /** The XState snapshot of the record; undefined for an instance of another version. */
  snapshot(workflow: Workflow, instance: Instance): AnyMachineSnapshot | undefined;
  /** The verdict on the event with this key; undefined when there was none. */
  verdict(id: string, key: string): ReturnType<InstanceStore['verdict']>;
}

const busyTimeoutMs = 10_000;
/**
 * Time for which a turn waits for another instance. That one may itself wait for a turn, behind
 * this one.
 */
export const turnBusyTimeoutMs = 100;

/** Another instance did not take an event in time. The turn frees its place, and runs again. */
export class BusyError extends Error {
  override readonly name = 'BusyError';
  override readonly message = 'Another instance is busy';
}

/**
 * Steps of a chart that a sender computes at most. With more a turn decides, because an API process
 * must serve other requests.
 */
const maxForeseenSteps = 100;
const maxPollMs = 1000;
const maxKeyLength = 1000;

/**
 * Delivers an event and wakes the job. Waits only while a turn is about to sleep, or the first turn
 * runs. After a crash in between nothing wakes the job until the event is sent again under its key.
 */
export const deliver = async (
  store: InstanceStore,
  id: string,
  key: string,
  event: AnyEventObject,
  options: DeliverOptions = {},
  timeoutMs = busyTimeoutMs,
): Promise<Delivery> => {
  const until = performance.now() + timeoutMs;
  let isSent = false;
  for (let pauseMs = 2; ; pauseMs = Math.min(pauseMs * 2, 200)) {
    // A turn has taken it meanwhile, and its verdict was not kept.
    if (isSent && (await store.verdict(id, key)) === undefined) return 'waiting';
    const { given, isAwake } = await store.deliver(id, key, event, options);
    isSent = given === 'waiting' || given === 'accepted';
    if (given !== 'busy' && isAwake) return given;
    if (performance.now() > until) return 'busy';
    await delay(pauseMs);
  }
};

const noRef = (): undefined => undefined;

/** Prefixes a key from outside, so that it differs from those of the engine. @throws TypeError */
const outside = (key: string): string => {
  if (key.length === 0 || key.length > maxKeyLength)
    throw new TypeError(`key: 1 to ${maxKeyLength} characters`);
  return `${outsideKeys}${key}`;
};

const resultOf = (given: Delivery): SendResult =>
  given === 'waiting' || given === 'accepted' ? 'taken' : given;

/**
 * @param now Milliseconds since the epoch, by the clock of Redis.
 * @param timeoutMs Time after which an event that no turn has taken is `busy`.
 */
export const createEngine = (
  locate: Locate,
  now: () => number,
  timeoutMs: number = busyTimeoutMs,
): Engine => {
  type Parsed = ReturnType<Workflow['parseEvent']>;
  const checked = (parsed: Parsed): { readonly type: string } => {
    if (!parsed.success) throw parsed.error;
    encode(parsed.data, 'event', noRef);
    return parsed.data;
  };

  /**
   * Computes what the chart will do with an event, after those that wait.
   *
   * @returns Undefined when this is unknown, for example because a timer is due or the chart makes
   *   many steps. Then a turn decides.
   */
  const foresee = (
    workflow: Workflow,
    id: string,
    stored: StoredInstance,
    event: AnyEventObject,
    path: string,
  ): Foreseen | undefined => {
    const { chart } = workflow;
    const { inbox } = stored;
    const record = readRecord(stored.record);
    const first = record === undefined ? firstEntry(stored.opts, stored.timestamp) : undefined;
    const waiting = first === undefined ? inbox.entries : [first, ...inbox.entries];
    if (stored.finishedOn !== undefined || (record === undefined) !== (stored.record === undefined))
      return undefined;
    if (
      record !== undefined &&
      (record.workflow !== chart.name || record.version !== chart.version)
    )
      return undefined;
    const at = now();
    const begun = begunJob({ id, timestamp: stored.timestamp, opts: stored.opts }, at);
    const readInput = (): unknown =>
      workflow.begin(workflow.parseInput(readData(stored.data)), begun);
    const retry = record && stored.isReplayed ? recordToRetry(record) : undefined;
    try {
      const life: Life =
        record === undefined
          ? begin(chart, id, readInput(), at, maxForeseenSteps)
          : resume(chart, id, retry ?? record, maxForeseenSteps);
      if (stored.isReplayed && retry === undefined)
        life.apply({ type: 'REPLAY', input: readInput() }, at);
      for (const { event: earlier, about, at: cameAt } of waiting) {
        if (about?.run !== undefined || life.nextTime(0) <= cameAt) return undefined;
        if (life.steps() > maxForeseenSteps) return undefined;
        life.apply(earlier, cameAt, about?.child);
      }
      const before = life.nextTime(0);
      if (before <= at) return undefined;
      const verdict = life.apply(event, at, path) ? 'accepted' : 'refused';
      if (life.steps() > maxForeseenSteps) return undefined;
      return { record: record && stored.text, inboxLength: inbox.length, verdict, before };
    } catch (error) {
      // The job will fail in its first turn.
      const isUnreadable =
        record === undefined && problemIn(error, { whole: '', values: [] }) !== undefined;
      const before = Number.POSITIVE_INFINITY;
      return isUnreadable
        ? { record: undefined, inboxLength: inbox.length, verdict: 'refused', before }
        : undefined;
    }
  };

  /** Waits for the verdict on an event. It polls, because a turn takes milliseconds. */
  const judge = async (
    { store }: Location,
    id: string,
    key: string,
    isFirst = false,
  ): Promise<SendResult> => {
    const until = performance.now() + timeoutMs;
    for (let pauseMs = 2; ; pauseMs = Math.min(pauseMs * 1.5, 200)) {
      const verdict = await store.verdict(id, key);
      if (verdict === undefined && !isFirst) return 'finished';
      if (verdict !== undefined && verdict !== 'waiting')
        return verdict === 'refused' ? 'refused' : 'taken';
      if (performance.now() > until) return 'busy';
      await delay(pauseMs);
    }
  };

  const find: Engine['find'] = async (id) => {
    const stored = await locate(id).store.read(id);
    if (stored === undefined) return undefined;
    const { finishedOn, returnValue, failedReason, jobName, timestamp: createdAt, data } = stored;
    const failed = finishedOn !== undefined && failedReason !== undefined;
    const ended = finishedOn === undefined ? 'no' : failed ? 'failed' : 'completed';
    return {
      id,
      jobName,
      createdAt,
      endedAt: finishedOn,
      data,
      record:
        readRecord(ended === 'completed' ? returnValue : stored.record) ??
        readRecord(stored.record),
      result: ended === 'completed' ? returnValue : undefined,
      ended,
      isClosed: stored.isClosed,
      failedReason: failed ? failedReason : undefined,
    };
  };

  /** Reads what an address names, and parses the event as the chart there takes it. */
  const lookUp = async (workflow: Workflow, address: string, event: { readonly type: string }) => {
    const { id, path } = readAddress(address);
    const stored = await locate(id).store.read(id);
    const child = path === '' ? undefined : childAt(readRecord(stored?.record), path);
    if (path !== '' && child === undefined) {
      const found =
        stored === undefined ? 'unknown' : stored.finishedOn === undefined ? 'refused' : 'finished';
      return { id, path, stored, found } as const;
    }
    const parsed =
      child === undefined ? workflow.parseEvent(event) : workflow.parseChildEvent(child.src, event);
    return { id, path, stored, event: checked(parsed), found: undefined } as const;
  };

  const engine: Engine = {
    of: (workflow) => createInstances(engine, workflow),

    verdict: (id, key) => locate(id).store.verdict(id, outside(key)),

    start: async (workflow, id, input, { delayMs, first, answerTo } = {}) => {
      const { queue, store } = locate(id);
      if (!/^[\w-]+$/.test(id) || /^\d+$/.test(id) || !isJobId(queue, id))
        throw new TypeError(
          'id: letters, digits, - and _, not digits alone, and no name of BullMQ',
        );
      workflow.parseInput(input);
      const added: Added = {
        by: randomBytes(9).toString('base64url'),
        ...(first !== undefined && {
          first: { key: outside(first.key), event: checked(workflow.parseEvent(first.event)) },
        }),
        ...(answerTo !== undefined && { answerTo }),
      };
      const options = {
        jobId: id,
        timestamp: now(),
        ...writeAdded(added),
        ...(delayMs !== undefined && { delay: delayMs }),
      };
      // Stored unparsed: the worker parses it, and a schema may refuse its own transformed output.
      await queue.add(jobNameOf(workflow), encodeInput(input), options);
      const stored = await store.readOptions(id);
      return readAdded(stored)?.by === added.by ? 'started' : 'exists';
    },

    send: async (workflow, address, key, event, { judged = false, sentOnce = false } = {}) => {
      const name = outside(key);
      const asked = await lookUp(workflow, address, event);
      if (asked.found !== undefined) return asked.found;
      const { id, path, stored } = asked;
      const at = locate(id);
      // It came with the start, and the first turn has not stored its verdict yet.
      const isFirst = stored?.record === undefined && readAdded(stored?.opts)?.first?.key === name;
      const foreseen = stored && foresee(workflow, id, stored, asked.event, path);
      const about = path === '' ? undefined : { child: path };
      const refusal = workflow.journal
        ? refusalLine(now(), path, asked.event.type, key)
        : undefined;
      const options = { foreseen, sentOnce, refusal, ...(about !== undefined && { about }) };
      const given = isFirst
        ? 'waiting'
        : await deliver(at.store, id, name, asked.event, options, timeoutMs);
      return given === 'waiting' && judged ? judge(at, id, name, isFirst) : resultOf(given);
    },

    can: async (workflow, address, event) => {
      const asked = await lookUp(workflow, address, event);
      if (asked.found !== undefined) return asked.found;
      const { id, path, stored } = asked;
      if (stored === undefined) return 'unknown';
      if (stored.finishedOn !== undefined || stored.isClosed) return 'finished';
      const { verdict } = foresee(workflow, id, stored, asked.event, path) ?? {};
      return verdict === 'accepted' ? 'taken' : (verdict ?? 'undecided');
    },

    snapshot: ({ chart }, { id, record }) =>
      record?.workflow === chart.name && record.version === chart.version
        ? resume(chart, id, record).snapshot()
        : undefined,

    answer: async (token, answer, found) => {
      const named = readToken(token);
      if (named === undefined) return 'unknown';
      const { instance, child, run, createdAt } = named;
      // Encoded here first, so that an UnstorableError names the member that the caller gave.
      const [what, value] = 'error' in answer ? ['error', answer.error] : ['output', answer.output];
      encode(value, String(what), noRef);
      const event = what === 'error' ? errorEvent(child, value) : doneEvent(child, value);
      const { store } = locate(instance);
      const until = performance.now() + timeoutMs;
      /** The instance that the token names, and not a later one with its id. */
      const isItself = (timestamp: number): boolean =>
        typeof createdAt !== 'number' || createdAt === Math.trunc(timestamp);
      const waitsIn = (record: InstanceRecord | undefined): boolean => {
        const asked = childAt(record, child);
        return asked !== undefined && isActivity(asked) && asked.run === run && !asked.ended;
      };
      const bring = async (foreseen?: Foreseen): Promise<SendResult> => {
        const options = { about: { child, run }, foreseen };
        return resultOf(
          await deliver(store, instance, endKey(child, run), event, options, timeoutMs),
        );
      };
      const isFound = found?.id === instance && found.ended === 'no' && isItself(found.createdAt);
      if (isFound && waitsIn(found.record)) return bring();
      for (let before: string | undefined; ; ) {
        const stored = await store.read(instance);
        if (stored !== undefined && !isItself(stored.timestamp)) return 'refused';
        const record = stored?.finishedOn === undefined ? readRecord(stored?.record) : undefined;
        if (record === undefined || run < record.next) {
          return record === undefined || waitsIn(record)
            ? bring()
            : bring({
                record: stored?.text,
                inboxLength: 0,
                verdict: 'refused',
                before: Number.POSITIVE_INFINITY,
              });
        }
        // The turn that began the activity has not committed yet. Wait, or the answer would be
        // refused.
        if (!(await store.isRunning(instance))) {
          if (stored === undefined || stored.text === before) return 'refused';
          before = stored.text;
          continue;
        }
        if (performance.now() > until) return 'busy';
        await delay(5);
      }
    },

    stop: async (id, reason) => {
      const event = { type: 'xstate.stop', ...(reason !== undefined && { reason }) };
      return resultOf(await deliver(locate(id).store, id, 'stop', event, {}, timeoutMs));
    },

    find,

    journal: async (id) => {
      const { store } = locate(id);
      const [{ lines, dropped }, stored] = await Promise.all([
        store.readJournal(id),
        store.read(id),
      ]);
      const open =
        stored?.finishedOn === undefined ? readRecord(stored?.record)?.effects : undefined;
      return { entries: readLines(lines, new Set(open?.map(({ number }) => number))), dropped };
    },

    ended: async (id, signal) => {
      for (let pauseMs = 5; ; pauseMs = Math.min(pauseMs * 1.2, maxPollMs)) {
        const instance = await find(id);
        if (instance === undefined) throw new Error('There is no such instance');
        if (instance.ended !== 'no') return instance;
        await delay(pauseMs, undefined, { signal });
      }
    },
  };
  return engine;
};
