/**
 * The services that devices need over the network, such as the gateway for texts, and when a job
 * may call them.
 *
 * A call goes on while its job sleeps (packages/engine/src/activities.ts), so an upstream that
 * hangs holds no slot of the worker. It holds a slot here: each upstream has 200 in a process, or
 * what the configuration says of another service. One application gets a quarter of them. A job
 * that finds no slot, or an open circuit breaker, is put off.
 */
import type { GateTurn, GateVerdict } from '../packages/engine/src/define.ts';
import type { UpstreamLog } from './log.ts';
import { createTenantConcurrency, type TenantConcurrency } from './tenant-concurrency.ts';

/** A slot costs a connection and no thread. */
const usualTotal = 200;
/** A person waits, so a job that was put off comes back soon. */
const minWaitMs = 100;

const failuresToOpen = 5;
const openMs = 1000;
/** Longer than any job takes to come back ({@link minWaitMs}). */
const yieldMs = 500;
const maxYielding = 1000;

/** A turn may wait so long for an upstream that is quick, and so many turns at a time. */
const quickMs = 50;
const maxInTurn = 4;

export type Breaker = ReturnType<typeof createBreaker>;

/**
 * A circuit breaker for one upstream. It wraps no calls: a job asks before it notes that it calls.
 *
 * closed     All jobs may call. The fifth failure in a row opens it.
 * open       No job may call, for {@link openMs}.
 * half-open  One job may try. An answer closes the breaker, a failure opens it again.
 *
 * The failures may come from the messages of one application alone. So an application whose try has
 * failed waits {@link yieldMs} longer than others before it tries again.
 */
export const createBreaker = (
  log: { readonly opened: () => void; readonly closed: () => void },
  now: () => number,
) => {
  let failures = 0;
  /** Undefined while it is closed. */
  let openUntil: number | undefined;
  let isTrying = false;
  /** Applications whose tries have failed. */
  const yielding = new Set<string>();

  const fail = (apId: string, isTry: boolean): void => {
    if (openUntil === undefined) {
      failures += 1;
      if (failures < failuresToOpen) return;
      log.opened();
    } else {
      // A call from before it opened says nothing new when it fails now.
      if (!isTry) return;
      if (yielding.size < maxYielding) yielding.add(apId);
    }
    openUntil = now() + openMs;
  };

  const succeed = (): void => {
    failures = 0;
    if (openUntil === undefined) return;
    openUntil = undefined;
    yielding.clear();
    log.closed();
  };

  return {
    /** The milliseconds after which the job asks again; 0: it may call now. */
    waitMs: (apId: string): number => {
      if (openUntil === undefined) return 0;
      if (isTrying) return openMs;
      return Math.max(openUntil + (yielding.has(apId) ? yieldMs : 0) - now(), 0);
    },
    /**
     * Begins a call. @returns Takes its result: a refusal is `answered`, because the upstream
     * works.
     */
    begin: (apId: string): ((verdict: GateVerdict) => void) => {
      const isTry = openUntil !== undefined;
      if (isTry) isTrying = true;
      return (verdict) => {
        if (isTry) isTrying = false;
        if (verdict === 'answered') succeed();
        else if (verdict === 'failed') fail(apId, isTry);
      };
    },
  };
};

export type Upstreams = ReturnType<typeof createUpstreams>;

/** @param maxCalls By origin, where it is not the usual number. */
export const createUpstreams = (
  log: UpstreamLog,
  now: () => number = () => performance.now(),
  maxCalls: ReadonlyMap<string, number> = new Map(),
) => {
  interface Known {
    readonly tenants: TenantConcurrency;
    readonly breaker: Breaker;
    /** When the calls under way began, the oldest first. */
    readonly begun: Set<{ readonly at: number }>;
  }
  const known = new Map<string, Known>();

  const findUpstream = (origin: string): Known => {
    const maxTotal = maxCalls.get(origin) ?? usualTotal;
    const max = Math.floor(maxTotal / 4);
    const upstream = known.get(origin) ?? {
      tenants: createTenantConcurrency({ max, maxWhenSlow: max, maxTotal, minWaitMs }, now),
      breaker: createBreaker(
        { opened: () => log.down(origin), closed: () => log.back(origin) },
        now,
      ),
      begun: new Set(),
    };
    known.set(origin, upstream);
    return upstream;
  };

  return {
    /**
     * So long a turn may wait for the answer to a call to another service of this interface, whose
     * answers often come at once: then its job need not sleep and wake. No time while such calls
     * are many, or one takes longer. Texts are never waited for.
     */
    turnWaitsMs: (origin: string): number => {
      if (!maxCalls.has(origin)) return 0;
      const { begun } = findUpstream(origin);
      const [oldest] = begun;
      return begun.size <= maxInTurn && (oldest === undefined || now() - oldest.at < quickMs)
        ? quickMs
        : 0;
    },
    turn: (origin: string, apId: string): GateTurn => {
      const { tenants, breaker, begun } = findUpstream(origin);
      const waitMs = breaker.waitMs(apId);
      const release = waitMs === 0 ? tenants.acquire(apId) : undefined;
      if (release === undefined)
        return { kind: 'wait', ms: Math.ceil(waitMs + tenants.waitMs(apId)) };
      const settle = breaker.begin(apId);
      const call = { at: now() };
      begun.add(call);
      return {
        kind: 'place',
        end: (verdict) => {
          release();
          begun.delete(call);
          settle(verdict);
        },
      };
    },
  };
};
