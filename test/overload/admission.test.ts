/** Who gets a place, who waits for a turn, and who is refused. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Admission, createAdmission, type Place } from '../../src/http/admission.ts';

const atOnce = 128;

const some = 'http://some.example';
const other = 'http://other.example';

let waitingForWorkers = 0;
/** Of these `some` has added. */
let waitingOfSome = 0;
const reports: [number, string, string | undefined][] = [];

const admissionOf = (limits: {
  maxInHand?: number;
  maxWaitingCallers?: number;
  maxBacklog?: number;
  maxBacklogInAll?: number;
}): Admission =>
  createAdmission({
    maxInHand: 1000,
    maxWaitingCallers: 1000,
    maxBacklog: 1000,
    maxBacklogInAll: 1000,
    ...limits,
    backlog: {
      size: () => waitingForWorkers,
      sizeOf: (apId) => (apId === some ? waitingOfSome : 0),
      added: () => undefined,
    },
    now: Date.now,
    onRefused: (...report) => void reports.push(report),
  });

/** A place that is given at once. */
const placeOf = (entered: ReturnType<Admission['enter']>): Place => {
  if (entered === undefined || entered instanceof Promise) throw new Error('There is no place at once');
  return entered;
};

const enterAll = (admission: Admission, count: number, apId?: string) =>
  Array.from({ length: count }, () => admission.enter('sign', apId));

beforeEach(() => {
  vi.useFakeTimers();
  waitingForWorkers = 0;
  waitingOfSome = 0;
  reports.length = 0;
});
afterEach(() => vi.useRealTimers());

describe('requests in hand', () => {
  it('beyond the limit are refused, until one of them has left', () => {
    const admission = admissionOf({ maxInHand: 3 });
    const [first] = enterAll(admission, 3);
    expect(admission.refuses('sign')).toBe(true);
    expect(admission.enter('sign')).toBeUndefined();
    placeOf(first).leave();
    expect(admission.refuses('sign')).toBe(false);
    placeOf(admission.enter('sign'));
    expect(admission.enter('sign')).toBeUndefined();
  });

  it('leave as much room again for requests about work that was accepted', () => {
    const admission = admissionOf({ maxInHand: 3 });
    enterAll(admission, 3);
    for (const operation of ['status', 'receipt', 'profile'] as const) placeOf(admission.enter(operation));
    for (const operation of ['sign', 'status', 'receipt', 'profile'] as const) {
      expect(admission.enter(operation)).toBeUndefined();
    }
  });

  it('no longer count when they only wait for a person, who has a limit of their own', () => {
    const admission = admissionOf({ maxInHand: 1, maxWaitingCallers: 2 });
    const first = placeOf(admission.enter('sign'));
    first.waits();
    placeOf(admission.enter('sign')).waits();
    expect(admission.enter('sign')).toBeUndefined();
    placeOf(admission.enter('status')).leave();
    first.leave();
    placeOf(admission.enter('sign'));
  });

  it('give their place back once, however often they say so', () => {
    const admission = admissionOf({ maxInHand: 2 });
    const [first] = enterAll(admission, 2).map(placeOf);
    first?.waits();
    first?.waits();
    first?.leave();
    first?.leave();
    placeOf(admission.enter('sign'));
    expect(admission.enter('sign')).toBeUndefined();
  });
});

describe('a backlog', () => {
  it('that is too long refuses signature requests and nothing else, and only until it has fallen', () => {
    const admission = admissionOf({ maxBacklogInAll: 10 });
    waitingForWorkers = 10;
    expect(admission.refuses('sign')).toBe(true);
    expect(admission.refuses('status')).toBe(false);
    waitingForWorkers = 9;
    expect(admission.refuses('sign')).toBe(false);
  });

  it('counts the requests in hand, which are about to join it', () => {
    const admission = admissionOf({ maxBacklogInAll: 10 });
    waitingForWorkers = 8;
    enterAll(admission, 2).map(placeOf);
    expect(admission.enter('sign')).toBeUndefined();
  });
});

describe('a turn', () => {
  it('is waited for when many are worked on already, in the order of arrival', async () => {
    const admission = admissionOf({});
    const working = enterAll(admission, atOnce).map(placeOf);
    const served: string[] = [];
    for (const name of ['first', 'second']) {
      void Promise.resolve(admission.enter('sign')).then(() => served.push(name));
    }
    await vi.advanceTimersByTimeAsync(0);
    expect(served).toEqual([]);
    working[0]?.leave();
    await vi.advanceTimersByTimeAsync(0);
    expect(served).toEqual(['first']);
    working[1]?.waits();
    await vi.advanceTimersByTimeAsync(0);
    expect(served).toEqual(['first', 'second']);
  });

  it('comes to a status request before the signature requests that were there first', async () => {
    const admission = admissionOf({});
    const working = enterAll(admission, atOnce).map(placeOf);
    const served: string[] = [];
    for (const operation of ['sign', 'sign', 'status', 'status'] as const) {
      void Promise.resolve(admission.enter(operation)).then(() => served.push(operation));
    }
    for (const place of working.slice(0, 4)) place.leave();
    await vi.advanceTimersByTimeAsync(0);
    expect(served).toEqual(['status', 'sign', 'status', 'sign']);
  });

  it('that a crowd of status requests waits for leaves signature requests their room', () => {
    const admission = admissionOf({ maxInHand: 3 });
    for (let request = 0; request < 5; request += 1) void admission.enter('status');
    expect(admission.refuses('sign')).toBe(false);
    for (let request = 0; request < 3; request += 1) void admission.enter('sign');
    expect(admission.refuses('sign')).toBe(true);
    expect(admission.refuses('status')).toBe(true);
  });

  it('that is long in coming lets no new signature request of its application in, but status requests', async () => {
    const admission = admissionOf({});
    const working = enterAll(admission, atOnce, some).map(placeOf);
    void admission.enter('sign', some);
    await vi.advanceTimersByTimeAsync(900);
    expect(admission.refuses('sign', some)).toBe(false);
    await vi.advanceTimersByTimeAsync(200);
    expect(admission.refuses('sign', some)).toBe(true);
    expect(admission.refuses('sign', other)).toBe(false);
    expect(admission.refuses('status', some)).toBe(false);
    working[0]?.leave();
    expect(admission.refuses('sign', some)).toBe(false);
  });

  it('that does not come is refused, and then the place is free', async () => {
    const admission = admissionOf({ maxInHand: atOnce + 1 });
    const working = enterAll(admission, atOnce).map(placeOf);
    const waiting = admission.enter('sign');
    expect(admission.enter('sign')).toBeUndefined();
    await vi.advanceTimersByTimeAsync(3200);
    expect(await waiting).toBeUndefined();
    expect(admission.refuses('sign')).toBe(false);
    working[0]?.leave();
    placeOf(admission.enter('sign'));
  });
});

describe('an application that floods the process', () => {
  it('leaves a quarter of the room to others, and of what callers may wait', () => {
    const admission = admissionOf({ maxInHand: 100 });
    expect(enterAll(admission, 100, some).filter((entered) => entered !== undefined)).toHaveLength(75);
    expect(admission.refuses('sign', some)).toBe(true);
    expect(enterAll(admission, 10, other).filter((entered) => entered !== undefined)).toHaveLength(10);

    const waiting = admissionOf({ maxWaitingCallers: 8 });
    for (const entered of enterAll(waiting, 6, some)) placeOf(entered).waits();
    expect(waiting.enter('sign', some)).toBeUndefined();
    placeOf(waiting.enter('sign', other)).waits();
  });

  it('is refused for what it has waiting itself, and others are not', async () => {
    const admission = admissionOf({ maxBacklog: 10 });
    waitingForWorkers = 10;
    waitingOfSome = 9;
    const last = placeOf(admission.enter('sign', some));
    expect(admission.enter('sign', some)).toBeUndefined();
    last.leave();
    placeOf(admission.enter('sign', other)).leave();
    await vi.advanceTimersByTimeAsync(1000);
    expect(reports).toEqual([[1, 'transactions of one application waiting', some]]);
  });

  it('gets one turn while another gets one, however many it waits for', async () => {
    const admission = admissionOf({});
    const crowds = [...'abcdefgh'].map((name) => `http://${name}.example`);
    const working = crowds.flatMap((apId) => enterAll(admission, atOnce / 8, apId)).map(placeOf);
    const served: string[] = [];
    for (const apId of [some, some, some, other, other]) {
      void Promise.resolve(admission.enter('sign', apId)).then(() => served.push(apId));
    }
    for (const place of working) place.leave();
    await vi.advanceTimersByTimeAsync(0);
    expect(served).toEqual([some, other, some, other, some]);
  });

  it('works on a part while another asks, and on all that fits when no other does', async () => {
    const admission = admissionOf({});
    placeOf(admission.enter('sign', other)).leave();
    const crowd = enterAll(admission, atOnce, some);
    expect(crowd.filter((entered) => !(entered instanceof Promise))).toHaveLength(16);
    placeOf(admission.enter('sign', other)).leave();
    await vi.advanceTimersByTimeAsync(2900);
    const served: unknown[] = [];
    for (const entered of crowd) {
      if (entered instanceof Promise) void entered.then((place) => void (place && served.push(place)));
    }
    // Those that waited are past their patience by the time that the other has been silent for long enough.
    await vi.advanceTimersByTimeAsync(7200);
    expect(served).toEqual([]);
    expect(enterAll(admission, atOnce, some).filter((entered) => !(entered instanceof Promise))).toHaveLength(
      112,
    );
  });
});

describe('refusals', () => {
  it('are reported as a number, once a second', async () => {
    const admission = admissionOf({ maxBacklogInAll: 1 });
    waitingForWorkers = 1;
    for (let times = 0; times < 500; times += 1) admission.refuses('sign');
    expect(reports).toEqual([]);
    await vi.advanceTimersByTimeAsync(1000);
    expect(reports).toEqual([[500, 'transactions waiting', undefined]]);
    await vi.advanceTimersByTimeAsync(5000);
    expect(reports).toHaveLength(1);
    admission.refuses('sign');
    await vi.advanceTimersByTimeAsync(1000);
    expect(reports).toHaveLength(2);
  });
});
