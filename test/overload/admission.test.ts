/** Who gets a place, who waits for a turn, and who is refused. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Admission, createAdmission, type Place } from '../../src/http/admission.ts';

const atOnce = 128;

let waitingForWorkers = 0;
const reports: [number, string][] = [];

const admissionOf = (limits: {
  maxInHand?: number;
  maxWaitingCallers?: number;
  maxBacklog?: number;
}): Admission =>
  createAdmission({
    maxInHand: 1000,
    maxWaitingCallers: 1000,
    maxBacklog: 1000,
    ...limits,
    backlog: { size: () => waitingForWorkers, added: () => undefined },
    now: Date.now,
    onRefused: (count, shortage) => void reports.push([count, shortage]),
  });

/** A place that is given at once. */
const placeOf = (entered: ReturnType<Admission['enter']>): Place => {
  if (entered === undefined || entered instanceof Promise) throw new Error('There is no place at once');
  return entered;
};

const enterAll = (admission: Admission, count: number) =>
  Array.from({ length: count }, () => admission.enter('sign'));

beforeEach(() => {
  vi.useFakeTimers();
  waitingForWorkers = 0;
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

describe('a request that waits for its password', () => {
  it('holds no place, and is none of the transactions that are about to be added', () => {
    const added: number[] = [];
    const admission = createAdmission({
      maxInHand: 1,
      maxWaitingCallers: 1,
      maxBacklog: 1000,
      backlog: { size: () => 0, added: () => void added.push(1) },
      now: Date.now,
      onRefused: () => undefined,
    });
    const first = placeOf(admission.enter('sign'));
    expect(admission.refuses('sign')).toBe(true);
    first.stepAside();
    expect(added).toHaveLength(0);
    const second = placeOf(admission.enter('sign'));
    first.stepAside();
    first.leave();
    expect(admission.refuses('sign')).toBe(true);
    second.leave();
    expect(added).toHaveLength(1);
    placeOf(admission.enter('sign'));
  });
});

describe('a backlog', () => {
  it('that is too long refuses signature requests and nothing else, and only until it has fallen', () => {
    const admission = admissionOf({ maxBacklog: 10 });
    waitingForWorkers = 10;
    expect(admission.refuses('sign')).toBe(true);
    expect(admission.refuses('status')).toBe(false);
    waitingForWorkers = 9;
    expect(admission.refuses('sign')).toBe(false);
  });

  it('counts the requests in hand, which are about to join it', () => {
    const admission = admissionOf({ maxBacklog: 10 });
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

  it('that is long in coming lets no new signature request in, but status requests', async () => {
    const admission = admissionOf({});
    const working = enterAll(admission, atOnce).map(placeOf);
    void admission.enter('sign');
    await vi.advanceTimersByTimeAsync(900);
    expect(admission.refuses('sign')).toBe(false);
    await vi.advanceTimersByTimeAsync(200);
    expect(admission.refuses('sign')).toBe(true);
    expect(admission.refuses('status')).toBe(false);
    working[0]?.leave();
    expect(admission.refuses('sign')).toBe(false);
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

describe('refusals', () => {
  it('are reported as a number, once a second', async () => {
    const admission = admissionOf({ maxBacklog: 1 });
    waitingForWorkers = 1;
    for (let times = 0; times < 500; times += 1) admission.refuses('sign');
    expect(reports).toEqual([]);
    await vi.advanceTimersByTimeAsync(1000);
    expect(reports).toEqual([[500, 'transactions waiting']]);
    await vi.advanceTimersByTimeAsync(5000);
    expect(reports).toHaveLength(1);
    admission.refuses('sign');
    await vi.advanceTimersByTimeAsync(1000);
    expect(reports).toHaveLength(2);
  });
});
