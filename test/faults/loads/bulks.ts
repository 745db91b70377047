/**
 * An operator who replays and cancels many at once, over the admin API. Each round submits some
 * transactions that fail and some that stay open, waits until the search finds them, and orders a
 * bulk for each kind by a filter.
 *
 * What the reports say was replayed goes into the journal, so that the rules about attempts, ends
 * and callbacks hold for it as well.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Json } from '../../support/product.ts';
import { signRequest, statusRequest } from '../../support/requests.ts';
import { call } from '../caller.ts';
import { isOutcome } from '../checks/told.ts';
import { type Check, type Evidence, endsOf, hindrances, type Violation } from '../evidence.ts';
import { excused, marginMs } from '../excuses.ts';
import { ask, type Heard } from '../http.ts';
import type { Operation, Told } from '../journal.ts';
import { applicationId, numberAt, type Person } from '../people.ts';
import type { Random } from '../random.ts';
import { beginOften, type Scene } from './scene.ts';

type Kind = 'replay' | 'cancel';

export interface BulkRun {
  readonly kind: Kind;
  /** By which it is found again, also when its order was not answered. */
  readonly reason: string;
  /** What the filter must find. */
  readonly ids: readonly string[];
  readonly orderedAt: number;
  /** Of the bulk, when the order was acknowledged. */
  id?: string;
  /** At the end; undefined when there is none. */
  report?: {
    readonly state: string;
    readonly total: number;
    readonly items: readonly {
      readonly id: string;
      readonly result: string;
      readonly fault?: number;
    }[];
  };
  /** When it ended, by the clock of Redis. */
  endedAt?: number | undefined;
  /** Targets in the audit log, each as often as it is there. */
  audited: readonly string[];
}

const everyMs = 9000;
const roundMs = 25_000;
const perSecond = 10;
/** Of one kind in a round. */
const inRound = 4;
const mostInRound = 10;
const openSeconds = 45;
const failingSeconds = 20;
const pauseMs = 400;

const createAdmin = (urls: readonly string[], token: string, random: Random) => {
  const request = (method: string, path: string, body?: object): Promise<Heard> =>
    ask(`${random.pick(urls)}/admin/api/${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body && { 'content-type': 'application/json' }),
      },
      ...(body && { body: JSON.stringify(body) }),
    });
  return request;
};

export const runBulks = async (
  scene: Scene & { readonly token: string },
): Promise<readonly BulkRun[]> => {
  const { urls, journal, token } = scene;

  const rounds = await beginOften(scene, everyMs, async (round, random) => {
    const admin = createAdmin(urls, token, random);
    const until = Date.now() + roundMs;
    const mark = `bulk-${round + 1}`;

    const submit = async (
      kind: Kind,
      person: Person,
      index: number,
      timeoutSeconds: number,
    ): Promise<string | undefined> => {
      const apTransId = `${mark}-${kind}-${person}-${index}`;
      const msisdn = numberAt(person, round * mostInRound + index);
      const text = `Order ${apTransId}?`;
      const body = signRequest({
        msisdn,
        mode: 'asynch',
        text,
        timeoutSeconds,
        apId: applicationId,
      });
      body.MSS_SignatureReq.AP_Info.AP_TransID = apTransId;
      const asked: Operation = {
        client: mark,
        name: 'sign',
        mode: 'asynch',
        apTransId,
        msisdn,
        text,
        timeoutSeconds,
      };
      while (Date.now() < until) {
        const told = await journal.record(asked, () =>
          call(random.pick(urls), 'sign', body, { withinMs: 10_000, asynch: true }),
        );
        if (told.kind === 'accepted') return told.id;
        await delay(pauseMs);
      }
      return undefined;
    };
    const hasEnded = async (id: string): Promise<boolean> => {
      while (Date.now() < until) {
        const told: Told = await journal.record({ client: mark, name: 'status', id }, () =>
          call(random.pick(urls), 'status', statusRequest(id, applicationId), { withinMs: 10_000 }),
        );
        if (isOutcome(told)) return true;
        await delay(pauseMs);
      }
      return false;
    };

    const order = async (kind: Kind, ids: readonly string[]): Promise<BulkRun | undefined> => {
      const reason = `${mark} ${kind}`;
      const filter = { apId: applicationId, text: `${mark}-${kind}-` };
      while (Date.now() < until) {
        const { status, body } = await admin('POST', 'replays/plan', { kind, filter, reason });
        if (status === 200 && body.replayable === ids.length) {
          const run: BulkRun = { kind, reason, ids, orderedAt: Date.now(), audited: [] };
          const told = await admin('POST', 'replays', { kind, filter, reason, perSecond });
          if (told.status === 202) run.id = told.body.bulkId;
          // Not answered, it may be there; refused, it is not.
          return told.status >= 400 && told.status < 500 ? undefined : run;
        }
        await delay(pauseMs);
      }
      return undefined;
    };

    const some = (count: number): readonly number[] =>
      Array.from({ length: count }, (_, index) => index);
    const submitted = (kind: Kind, person: Person, timeoutSeconds: number) =>
      Promise.all(some(inRound).map((index) => submit(kind, person, index, timeoutSeconds)));
    const [denied, absent, mute] = await Promise.all([
      submitted('replay', 'bulkDenier', failingSeconds),
      submitted('replay', 'bulkAbsent', failingSeconds),
      submitted('cancel', 'bulkMute', openSeconds),
    ]);
    const failing = [...denied, ...absent].filter((id) => id !== undefined);
    const open = mute.filter((id) => id !== undefined);
    const failed = await Promise.all(
      failing.map(async (id) => ((await hasEnded(id)) ? id : undefined)),
    );
    // Of those that were not acknowledged nobody knows, so the filter could find more.
    const isKnown = [...denied, ...absent, ...mute, ...failed].every((id) => id !== undefined);
    if (!isKnown) return [];
    return (await Promise.all([order('replay', failing), order('cancel', open)])).filter(
      (run) => run !== undefined,
    );
  });
  return rounds.flat();
};

const isOver = (state: string): boolean => state === 'done' || state === 'stopped';
const reportWithinMs = 30_000;

/** Reads the reports when all is over, and what the audit log has. */
export const lookAtBulks = async (
  runs: readonly BulkRun[],
  { urls, token, journal, random }: Omit<Scene, 'until'> & { readonly token: string },
): Promise<void> => {
  if (runs.length === 0) return;
  const admin = createAdmin(urls, token, random);
  const until = Date.now() + reportWithinMs;
  const listed: Json[] = (await admin('GET', 'replays?limit=200')).body?.replays ?? [];
  for (const run of runs) {
    run.id ??= listed.find(({ reason }) => reason === run.reason)?.id;
    if (run.id === undefined) continue;
    for (;;) {
      const { status, body } = await admin('GET', `replays/${run.id}`);
      if (status === 200) run.report = body;
      if ((run.report !== undefined && isOver(run.report.state)) || Date.now() > until) break;
      await delay(pauseMs);
    }
    for (const { id, result } of run.report?.items ?? []) {
      const told: Told = ['failed', 'signed'].includes(result)
        ? { kind: 'replayed' }
        : { kind: 'unknown', cause: result };
      const to = Date.now();
      const noted = {
        client: run.reason,
        name: 'replay',
        id,
        from: run.orderedAt,
        to,
        told,
      } as const;
      if (run.kind === 'replay') journal.note(noted);
    }
  }
  const entries: Json[] = [];
  for (const kind of ['replay', 'cancel', 'bulk-end'] as const) {
    let cursor: string | undefined = '';
    while (cursor !== undefined) {
      const { body }: Heard = await admin(
        'GET',
        `audit?action=${kind}&items=true&limit=1000${cursor && `&cursor=${encodeURIComponent(cursor)}`}`,
      );
      entries.push(...(body?.entries ?? []));
      cursor = body?.cursor;
    }
  }
  for (const run of runs) {
    run.endedAt = entries.find(
      ({ action, target }) => action === 'bulk-end' && target === run.id,
    )?.at;
    run.audited = entries
      .filter(({ details }) => details?.bulk === run.id && details?.outcome === undefined)
      .map(({ target }) => String(target));
  }
};

/** How a transaction must have ended for what a report says. */
const isTrue = (result: string, fault: number | undefined, told: Told | undefined): boolean => {
  if (result === 'signed') return told?.kind === 'signed';
  if (result === 'failed') return told?.kind === 'fault' && told.code === fault;
  // Cancelled: the fault of one that an operator has taken back.
  return result === 'cancelled' ? told?.kind === 'fault' && told.code === 401 : true;
};

const bulksAreDone: Check = function* (evidence) {
  for (const run of evidence.loads.bulks) {
    const { kind, reason, ids, id, report, audited } = run;
    if (id === undefined) continue;
    if (report === undefined || report.state !== 'done') {
      yield {
        rule: 'an acknowledged bulk is done',
        id,
        says: `${reason} is ${report?.state ?? 'not there'}`,
      };
      continue;
    }
    const listed = report.items.map(({ id }) => id);
    if (listed.toSorted().join() !== ids.toSorted().join())
      yield {
        rule: 'a bulk is of what its filter finds',
        id,
        says: `${listed.length} of ${ids.length}`,
      };
    for (const { id: msspTransId, result, fault } of report.items) {
      const isWanted =
        kind === 'replay' ? ['failed', 'signed'].includes(result) : result === 'cancelled';
      const job = evidence.jobs.get(msspTransId);
      // One whose time was over before its turn came.
      const isLate = kind === 'cancel' && result === 'changed' && job?.record?.fault?.code === 208;
      if (!isWanted && !isLate)
        yield {
          rule: 'a bulk does all that is listed',
          id: msspTransId,
          says: `${reason}: ${result}`,
        };
      if (!isTrue(result, fault, evidence.finals.get(msspTransId)))
        yield {
          rule: 'the report of a bulk is true',
          id: msspTransId,
          says: `${reason} says ${result} ${fault ?? ''}, and it is ${JSON.stringify(evidence.finals.get(msspTransId))}`,
        };
      const times = audited.filter((target) => target === msspTransId).length;
      if (times !== 1 && !isLate)
        yield {
          rule: 'what a bulk does is in the audit log once',
          id: msspTransId,
          says: `${reason}: ${times} entries`,
        };
    }
    yield* inTime(evidence, run, report);
  }
};

const inTime = function* (
  evidence: Evidence,
  { id, orderedAt, endedAt = Number.POSITIVE_INFINITY }: BulkRun,
  { total, items }: NonNullable<BulkRun['report']>,
): Generator<Violation> {
  const ends = items.flatMap((item) => endsOf(evidence, item.id).at(-1) ?? []);
  const due = Math.max(orderedAt + (total / perSecond) * 1000, ...ends);
  const late = endedAt - excused(hindrances(evidence), due);
  if (late > marginMs)
    yield {
      rule: 'a bulk ends in time',
      id,
      says: `it ended ${late} ms after its transactions and all faults`,
    };
};

export const bulkChecks: readonly Check[] = [bulksAreDone];
