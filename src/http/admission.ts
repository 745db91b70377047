/**
 * How much a process takes on, and what it says to the rest.
 *
 * A process that takes everything fails everybody: all requests become slow together, answers of Redis lie unread until
 * their commands have timed out, and callers hear of an internal error about a request that may have been accepted. So a
 * bounded number is worked on at a time, the others wait their turn for a moment, and when too much is in hand, or too much
 * waits for a worker already, new signature requests are refused before they are read. A refusal is always the same Fault
 * and means that nothing was accepted.
 *
 * Only signature requests bring new work. Status, receipts and profiles are about work that was accepted; they take turns
 * with the signature requests, so that a crowd of those does not hold them up, and have as much room again.
 *
 * A caller who waits for a person costs a socket and a promise. Such callers are counted apart, and many more of them fit.
 */
import { fault } from '../protocol/fault.ts';
import type { Operation } from '../protocol/parse.ts';

export const busyFault = fault(
  900,
  'The service is overloaded: this request was not accepted, try again later',
);
/** What the refusal suggests to a client that understands `Retry-After`. */
export const retryAfterSeconds = 1;

/** What made the process refuse; for the log. */
export type Shortage = 'requests in hand' | 'callers waiting' | 'transactions waiting';

export interface Place {
  /** From here on the request only waits for a person. */
  readonly waits: () => void;
  /**
   * Gives the place up while a password is computed. Whoever comes back asks for one again; until then nothing of the request
   * counts here, so that people who do not know a password take no room from those who do.
   */
  readonly stepAside: () => void;
  readonly leave: () => void;
}

export interface Admission {
  /** Whether there is no room for such a request now. Cheap enough to be asked before anything is read. */
  refuses(operation: Operation): boolean;
  /** @returns Undefined when the request is refused; a promise when it has to wait for its turn. */
  enter(operation: Operation): Place | undefined | Promise<Place | undefined>;
}

export interface AdmissionOptions {
  /** Beyond this many signature requests in hand new ones are refused, beyond twice as many requests of all kinds the others. */
  readonly maxInHand: number;
  readonly maxWaitingCallers: number;
  readonly maxBacklog: number;
  readonly backlog: { size(): number; added(): void };
  readonly now: () => number;
  /** Called at most once a second, with the number of requests refused since, and why the first of them was. */
  readonly onRefused: (count: number, shortage: Shortage) => void;
}

/**
 * More at a time would not be faster: one Redis connection carries their commands. With fewer, each answer is read long
 * before its command times out, even when the process is short of CPU.
 */
const atOnce = 128;
/** When somebody has waited this long for a turn, the process is behind, and new signature requests are refused. */
const behindMs = 1000;
/** Who has waited this long for a turn is refused, too: the process is not getting anywhere. */
const patienceMs = 3000;
const lookEveryMs = 100;
const reportEveryMs = 1000;

type Lane = 'sign' | 'other';

interface Turn {
  readonly since: number;
  readonly take: (place: Place | undefined) => void;
}

export const createAdmission = (options: AdmissionOptions): Admission => {
  const { maxInHand, maxWaitingCallers, maxBacklog, backlog, now, onRefused } = options;
  const inHand = { sign: 0, other: 0 };
  let working = 0;
  let waitingCallers = 0;
  const turns: Readonly<Record<Lane, Turn[]>> = { sign: [], other: [] };
  let lastServed: Lane = 'sign';
  let watch: NodeJS.Timeout | undefined;
  let refusals = 0;

  const laneOf = (operation: Operation): Lane => (operation === 'sign' ? 'sign' : 'other');

  const shortageFor = (lane: Lane): Shortage | undefined => {
    if (lane === 'other') return inHand.sign + inHand.other >= 2 * maxInHand ? 'requests in hand' : undefined;
    const [oldest] = turns.sign;
    if (inHand.sign >= maxInHand || (oldest !== undefined && now() - oldest.since >= behindMs))
      return 'requests in hand';
    if (waitingCallers >= maxWaitingCallers) return 'callers waiting';
    // Those in hand are about to be added.
    return backlog.size() + inHand.sign >= maxBacklog ? 'transactions waiting' : undefined;
  };

  const noteRefusal = (shortage: Shortage): void => {
    refusals += 1;
    if (refusals > 1) return;
    setTimeout(() => {
      onRefused(refusals, shortage);
      refusals = 0;
    }, reportEveryMs).unref();
  };

  const vacate = (lane: Lane): void => {
    working -= 1;
    inHand[lane] -= 1;
    serveNext();
  };

  const finish = (lane: Lane): void => {
    if (lane === 'sign') backlog.added();
    vacate(lane);
  };

  const begin = (lane: Lane): Place => {
    working += 1;
    let stage: 'working' | 'waiting' | 'gone' = 'working';
    return {
      waits: () => {
        if (stage !== 'working') return;
        stage = 'waiting';
        waitingCallers += 1;
        finish(lane);
      },
      stepAside: () => {
        if (stage === 'working') vacate(lane);
        stage = 'gone';
      },
      leave: () => {
        if (stage === 'working') finish(lane);
        else if (stage === 'waiting') waitingCallers -= 1;
        stage = 'gone';
      },
    };
  };

  const dismiss = (lane: Lane): void => {
    inHand[lane] -= 1;
    noteRefusal('requests in hand');
    turns[lane].shift()?.take(undefined);
  };

  /** Timers are late when a process is busy, so whoever hands out turns looks as well. */
  const dismissImpatient = (): void => {
    for (const lane of ['sign', 'other'] as const) {
      while (now() - (turns[lane][0]?.since ?? Number.POSITIVE_INFINITY) >= patienceMs) dismiss(lane);
    }
    if (watch === undefined || turns.sign.length + turns.other.length > 0) return;
    clearInterval(watch);
    watch = undefined;
  };

  function serveNext(): void {
    if (working >= atOnce || watch === undefined) return;
    dismissImpatient();
    const other: Lane = lastServed === 'sign' ? 'other' : 'sign';
    const lane = turns[other].length > 0 ? other : lastServed;
    const turn = turns[lane].shift();
    if (turn === undefined) return;
    lastServed = lane;
    turn.take(begin(lane));
  }

  const refuses = (operation: Operation): boolean => {
    const shortage = shortageFor(laneOf(operation));
    if (shortage !== undefined) noteRefusal(shortage);
    return shortage !== undefined;
  };

  return {
    refuses,
    enter: (operation) => {
      if (refuses(operation)) return undefined;
      const lane = laneOf(operation);
      inHand[lane] += 1;
      if (working < atOnce) return begin(lane);
      watch ??= setInterval(dismissImpatient, lookEveryMs);
      return new Promise((take) => turns[lane].push({ since: now(), take }));
    },
  };
};
