/**
 * Limits the requests that a process takes on, and refuses the others.
 *
 * A process that takes on everything becomes slow for everyone: commands to Redis time out, and
 * callers get an internal error about a request that may have been accepted. So a bounded number is
 * worked on at a time, others wait for a moment, and when too much is in hand or waits for a
 * worker, new signature requests are refused before they are read. A refusal is always the same
 * Fault and means that nothing was accepted.
 *
 * Only signature requests bring new work. Status, receipt and profile requests concern accepted
 * work: they take turns with signature requests and have as much room again. A caller that waits
 * for a person costs a socket and a promise; many more of them fit, and they are counted apart.
 *
 * No application takes the room of others. Each may have three times as many requests in hand, and
 * waiting callers, as room is left: one that floods leaves a quarter of the room, two leave a
 * seventh. Turns go round among the applications. Requests that are refused because of their
 * application have been read; the others have not. The AP_ID counts before its password is checked,
 * so an abuser harms only the name that it uses. Anyone can invent unregistered names, so all of
 * them together have a fixed number of shares, and a name always has the same one.
 */
import { type Fault, fault } from '../../packages/protocol/src/fault.ts';
import type { Operation } from '../../packages/protocol/src/parse.ts';
import { createCompany, createRounds, type Rounds } from '../registry/rounds.ts';
import type { Backlog } from '../transactions/backlog.ts';

export const busyFault = fault(
  900,
  'The service is overloaded: this request was not accepted, try again later',
);
/**
 * The fault while the certificate authority is lost. It tells callers only that the number is not
 * the cause. The log and `/readyz` give operators the reason.
 */
export const unableFault = fault(
  900,
  'The service cannot sign at the moment: this request was not accepted, try again later',
);
/** Whether a fault is one of the admission, which has already counted it. */
export const isOfAdmission = (why: Fault): boolean => why === busyFault || why === unableFault;
/** The value of the header `Retry-After`. */
export const retryAfterSeconds = 1;

/** Why the process refused; for the log. */
export type Shortage =
  | 'the certificate authority is lost'
  | 'requests in hand'
  | 'callers waiting'
  | 'transactions waiting'
  | 'requests of one application in hand'
  | 'callers of one application waiting'
  | 'transactions of one application waiting';

export interface Refusals {
  readonly count: number;
  readonly shortage: Shortage;
  /** The AP_ID in the request; undefined when there is none, or it was not read. */
  readonly apId: string | undefined;
}

export interface Place {
  /** Call it when the request is accepted: from then on it only waits for a person. */
  readonly onAccepted: () => void;
  /**
   * Gives the place up while a password is computed, or for good when the request is refused before
   * its application is known. Until the request enters again it does not count, so that callers
   * without a password take no room from others.
   */
  readonly stepAside: () => void;
  readonly leave: () => void;
}

export interface Admission {
  /**
   * Whether there is no room for such a request now; with `apId` also whether there is none for
   * that application. Cheap enough to be asked before anything is read.
   */
  refuses(operation: Operation, apId?: string): boolean;
  /**
   * @param apId The AP_ID in the request; undefined when it has none.
   * @returns Undefined when the request is refused; a promise when it has to wait for its turn.
   */
  enter(operation: Operation, apId?: string): Place | undefined | Promise<Place | undefined>;
  /** The fault for a request that was refused just now. */
  refusalOf(operation: Operation): Fault;
}

interface AdmissionOptions {
  /** Maximum of signature requests in hand; all kinds together have twice as much. */
  readonly maxInHand: number;
  readonly maxWaitingCallers: number;
  /** Transactions of one application that may wait for a worker, and of all together. */
  readonly maxBacklog: number;
  readonly maxBacklogInAll: number;
  readonly backlog: Pick<Backlog, 'size' | 'sizeOf' | 'added'>;
  /** Whether nothing can be signed at all. Asked for each request. */
  readonly isAuthorityLost: () => boolean;
  /** Asked for each request. */
  readonly isRegistered: (apId: string) => boolean;
  /** Called at most once a second with the refusals since the last call. */
  readonly onRefused: (refusals: readonly Refusals[]) => void;
}

/** Each application may have this many times the free room: a single flood takes 3/4 of all. */
const partOfFree = 3;
/**
 * Requests that are worked on at a time. More would not be faster, because one Redis connection
 * carries their commands. With fewer, each answer is read long before its command times out, even
 * when the process is short of CPU.
 */
const atOnce = 128;
/** Requests of one application that are worked on while another one asks. More would delay it. */
const atOnceOfOne = 4;
/** Shares of all unregistered names together: few beside the registered ones. */
const sharesOfUnregistered = 16;
/** Time for which an application counts as asking after an admitted request. */
const askedMs = 10_000;
/** Wait for a turn after which the process counts as behind and refuses signature requests. */
const behindMs = 1000;
/** Wait for a turn after which the request itself is refused. */
const maxWaitMs = 3000;
const lookEveryMs = 100;
const reportEveryMs = 1000;
/** Reasons and applications in one report; further ones are counted by their reason alone. */
const maxReported = 20;

/** The monotonic time in milliseconds, because the clock of the machine may be set. */
const now = (): number => performance.now();

/** The top bits of FNV-1a, over no more characters than a registered name can have. */
const numberOf = (apId: string): number => {
  let hash = 0x811c9dc5;
  for (let at = Math.min(apId.length, 256) - 1; at >= 0; at -= 1)
    hash = Math.imul(hash ^ apId.charCodeAt(at), 0x01000193);
  return (hash >>> 16) % sharesOfUnregistered;
};

type Lane = 'sign' | 'other';

/** A registered AP_ID, a number for an unregistered one, undefined for a request without one. */
type Owner = string | number | undefined;

/** What one owner has in hand. Owners without anything have no entry. */
interface Share {
  readonly owner: Owner;
  readonly inHand: Record<Lane, number>;
  working: number;
  waitingCallers: number;
}

interface Turn {
  readonly apId: string | undefined;
  readonly since: number;
  readonly take: (place: Place | undefined) => void;
}

export const createAdmission = (options: AdmissionOptions): Admission => {
  const { maxInHand, maxWaitingCallers, maxBacklog, maxBacklogInAll } = options;
  const { backlog, isAuthorityLost, isRegistered, onRefused } = options;
  const inHand = { sign: 0, other: 0 };
  let working = 0;
  let waitingCallers = 0;
  const shares = new Map<Owner, Share>();
  const rounds: Readonly<Record<Lane, Rounds<Share, Turn>>> = {
    sign: createRounds(),
    other: createRounds(),
  };
  const company = createCompany<Owner>(askedMs, now);
  let lastServed: Lane = 'sign';
  let watch: NodeJS.Timeout | undefined;
  const refused = new Map<string, Refusals & { count: number }>();

  const laneOf = (operation: Operation): Lane => (operation === 'sign' ? 'sign' : 'other');

  const ownerOf = (apId: string | undefined): Owner =>
    apId === undefined || isRegistered(apId) ? apId : numberOf(apId);

  const shareOf = (apId: string | undefined): Share => {
    const owner = ownerOf(apId);
    const present = shares.get(owner);
    if (present !== undefined) return present;
    const share: Share = {
      owner,
      inHand: { sign: 0, other: 0 },
      working: 0,
      waitingCallers: 0,
    };
    shares.set(owner, share);
    return share;
  };

  const forgetEmpty = ({ owner, inHand: own, waitingCallers: callers }: Share): void => {
    if (own.sign + own.other + callers === 0) shares.delete(owner);
  };

  const shortageFor = (lane: Lane): Shortage | undefined => {
    if (lane === 'other')
      return inHand.sign + inHand.other >= 2 * maxInHand ? 'requests in hand' : undefined;
    if (isAuthorityLost()) return 'the certificate authority is lost';
    if (inHand.sign >= maxInHand) return 'requests in hand';
    if (waitingCallers >= maxWaitingCallers) return 'callers waiting';
    // Requests in hand are about to be added to the backlog.
    return backlog.size() + inHand.sign >= maxBacklogInAll ? 'transactions waiting' : undefined;
  };

  const shortageOf = (lane: Lane, apId: string | undefined): Shortage | undefined => {
    const share = shares.get(ownerOf(apId));
    const own = share?.inHand[lane] ?? 0;
    const left =
      lane === 'sign' ? maxInHand - inHand.sign : 2 * maxInHand - inHand.sign - inHand.other;
    if (own >= partOfFree * left) return 'requests of one application in hand';
    if (lane === 'other') return undefined;
    const oldest = share && rounds.sign.first(share);
    if (oldest !== undefined && now() - oldest.since >= behindMs)
      return 'requests of one application in hand';
    if ((share?.waitingCallers ?? 0) >= partOfFree * (maxWaitingCallers - waitingCallers))
      return 'callers of one application waiting';
    if (apId === undefined) return undefined;
    return backlog.sizeOf(apId) + own >= maxBacklog
      ? 'transactions of one application waiting'
      : undefined;
  };

  const noteRefusal = (shortage: Shortage, apId: string | undefined): void => {
    const key = `${shortage} ${apId ?? ''}`;
    const known = refused.get(key) ?? refused.get(shortage);
    if (known !== undefined) {
      known.count += 1;
      return;
    }
    if (refused.size === 0) {
      setTimeout(() => {
        const all = [...refused.values()];
        refused.clear();
        onRefused(all);
      }, reportEveryMs).unref();
    }
    if (refused.size < maxReported) refused.set(key, { count: 1, shortage, apId });
    else refused.set(shortage, { count: 1, shortage, apId: undefined });
  };

  /** Only for admitted requests: others could keep each application at its part. */
  const noteAsked = ({ owner }: Share): void => company.note(owner);

  /** Whether one more request of this owner may be worked on now. */
  const mayWork = ({ owner, working: own }: Share): boolean => {
    if (working >= atOnce) return false;
    return own < atOnceOfOne || company.isAlone(owner);
  };

  const vacate = (lane: Lane, share: Share): void => {
    working -= 1;
    share.working -= 1;
    inHand[lane] -= 1;
    share.inHand[lane] -= 1;
    serveNext();
  };

  const finish = (lane: Lane, share: Share, apId: string | undefined): void => {
    noteAsked(share);
    if (lane === 'sign') backlog.added(apId);
    vacate(lane, share);
  };

  const begin = (lane: Lane, share: Share, apId: string | undefined): Place => {
    working += 1;
    share.working += 1;
    let stage: 'working' | 'waiting' | 'gone' = 'working';
    const end = (endWork: typeof finish): void => {
      if (stage === 'gone') return;
      if (stage === 'working') endWork(lane, share, apId);
      else {
        waitingCallers -= 1;
        share.waitingCallers -= 1;
      }
      stage = 'gone';
      forgetEmpty(share);
    };
    return {
      onAccepted: () => {
        if (stage !== 'working') return;
        stage = 'waiting';
        waitingCallers += 1;
        share.waitingCallers += 1;
        finish(lane, share, apId);
      },
      stepAside: () => end(vacate),
      leave: () => end(finish),
    };
  };

  /** Refuses requests that have waited too long. Not left to a timer alone: timers can be late. */
  const refuseOverdue = (lane: Lane, share: Share): void => {
    while (now() - (rounds[lane].first(share)?.since ?? Number.POSITIVE_INFINITY) >= maxWaitMs) {
      inHand[lane] -= 1;
      share.inHand[lane] -= 1;
      const turn = rounds[lane].take(share);
      noteRefusal('requests of one application in hand', turn?.apId);
      turn?.take(undefined);
    }
    forgetEmpty(share);
  };

  /** @returns Whether a turn was handed out. */
  function serveNext(): boolean {
    if (working >= atOnce || watch === undefined) return false;
    const other: Lane = lastServed === 'sign' ? 'other' : 'sign';
    for (const lane of [other, lastServed]) {
      for (const share of rounds[lane].lanes()) {
        if (!mayWork(share)) continue;
        refuseOverdue(lane, share);
        const turn = rounds[lane].take(share);
        if (turn === undefined) continue;
        lastServed = lane;
        turn.take(begin(lane, share, turn.apId));
        return true;
      }
    }
    return false;
  }

  const lookAtTurns = (): void => {
    for (const lane of ['sign', 'other'] as const) {
      for (const share of rounds[lane].lanes()) refuseOverdue(lane, share);
    }
    // Room also appears without a leaving request: when another application no longer asks.
    let served = true;
    while (served) served = serveNext();
    if (!rounds.sign.isEmpty() || !rounds.other.isEmpty()) return;
    clearInterval(watch);
    watch = undefined;
  };

  const refuses = (operation: Operation, apId?: string): boolean => {
    const lane = laneOf(operation);
    const shortage = shortageFor(lane) ?? (apId === undefined ? undefined : shortageOf(lane, apId));
    if (shortage !== undefined) noteRefusal(shortage, apId);
    return shortage !== undefined;
  };

  return {
    refuses,
    refusalOf: (operation) =>
      laneOf(operation) === 'sign' && isAuthorityLost() ? unableFault : busyFault,
    enter: (operation, apId) => {
      if (refuses(operation, apId)) return undefined;
      const lane = laneOf(operation);
      const share = shareOf(apId);
      inHand[lane] += 1;
      share.inHand[lane] += 1;
      if (mayWork(share) && !rounds[lane].has(share)) return begin(lane, share, apId);
      watch ??= setInterval(lookAtTurns, lookEveryMs);
      return new Promise((take) => rounds[lane].add(share, { apId, since: now(), take }));
    },
  };
};
