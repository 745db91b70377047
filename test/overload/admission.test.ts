/** Who gets a place, who waits for a turn, and who is refused. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { refuse } from '../../packages/protocol/src/fault.ts';
import { protocol } from '../../packages/protocol/test/samples.ts';
import { createWorkflowRoutes } from '../../parts/workflows/http/workflows.route.ts';
import {
  type Admission,
  createAdmission,
  type Place,
  type Refusals,
} from '../../src/http/admission.ts';
import type { OperationHandler } from '../../src/http/operation.ts';
import { createServiceRoutes } from '../../src/http/service.route.ts';
import { createStatus } from '../../src/http/status.operation.ts';
import { createApplicationProviders } from '../../src/registry/application-providers.ts';
import { loginApId } from '../../src/registry/login-ap-id.ts';
import { createPasswordVerifier } from '../../src/registry/password-verifier.ts';
import { createTransactions } from '../../src/transactions/transactions.ts';
import { basic } from '../support/caller.ts';
import { signRequest } from '../support/requests.ts';

const atOnce = 128;

const some = 'http://some.example';
const other = 'http://other.example';

/** Nobody registered these. */
const invented = (number: number): string => `urn:invented:${number}`;
const isRegistered = (apId: string): boolean => !apId.startsWith('urn:invented:');

let waitingForWorkers = 0;
/** Of these `some` has added. */
let waitingOfSome = 0;
const reports: (readonly Refusals[])[] = [];

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
    isAuthorityLost: () => false,
    isRegistered,
    onRefused: (report) => void reports.push(report),
  });

/** A place that is given at once. */
const placeOf = (entered: ReturnType<Admission['enter']>): Place => {
  if (entered === undefined || entered instanceof Promise)
    throw new Error('There is no place at once');
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
    for (const operation of ['status', 'receipt', 'profile'] as const)
      placeOf(admission.enter(operation));
    for (const operation of ['sign', 'status', 'receipt', 'profile'] as const) {
      expect(admission.enter(operation)).toBeUndefined();
    }
  });

  it('no longer count when they only wait for a person, who has a limit of their own', () => {
    const admission = admissionOf({ maxInHand: 1, maxWaitingCallers: 2 });
    const first = placeOf(admission.enter('sign'));
    first.onAccepted();
    placeOf(admission.enter('sign')).onAccepted();
    expect(admission.enter('sign')).toBeUndefined();
    placeOf(admission.enter('status')).leave();
    first.leave();
    placeOf(admission.enter('sign'));
  });

  it('give their place back once, however often they say so', () => {
    const admission = admissionOf({ maxInHand: 2 });
    const [first] = enterAll(admission, 2).map(placeOf);
    first?.onAccepted();
    first?.onAccepted();
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
      maxBacklogInAll: 1000,
      backlog: { size: () => 0, sizeOf: () => 0, added: () => void added.push(1) },
      isAuthorityLost: () => false,
      isRegistered,
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

describe('a caller who waits for a person', () => {
  it('is counted no more once his place is given up, however that is', () => {
    const admission = admissionOf({ maxWaitingCallers: 1 });
    for (const giveUp of ['leave', 'stepAside'] as const) {
      const place = placeOf(admission.enter('sign'));
      place.onAccepted();
      expect(admission.refuses('sign'), giveUp).toBe(true);
      place[giveUp]();
      expect(admission.refuses('sign'), giveUp).toBe(false);
    }
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
    working[1]?.onAccepted();
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
    expect(enterAll(admission, 100, some).filter((entered) => entered !== undefined)).toHaveLength(
      75,
    );
    expect(admission.refuses('sign', some)).toBe(true);
    expect(enterAll(admission, 10, other).filter((entered) => entered !== undefined)).toHaveLength(
      10,
    );

    const waiting = admissionOf({ maxWaitingCallers: 8 });
    for (const entered of enterAll(waiting, 6, some)) placeOf(entered).onAccepted();
    expect(waiting.enter('sign', some)).toBeUndefined();
    placeOf(waiting.enter('sign', other)).onAccepted();
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
    expect(reports).toEqual([
      [{ count: 1, shortage: 'transactions of one application waiting', apId: some }],
    ]);
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
    expect(crowd.filter((entered) => !(entered instanceof Promise))).toHaveLength(4);
    placeOf(admission.enter('sign', other)).leave();
    await vi.advanceTimersByTimeAsync(2900);
    const served: unknown[] = [];
    for (const entered of crowd) {
      if (entered instanceof Promise)
        void entered.then((place) => void (place && served.push(place)));
    }
    // Those that waited are past their patience by the time that the other has been silent for long
    // enough.
    await vi.advanceTimersByTimeAsync(7200);
    expect(served).toEqual([]);
    expect(
      enterAll(admission, atOnce, some).filter((entered) => !(entered instanceof Promise)),
    ).toHaveLength(124);
  });
});

/**
 * Ten seconds in which a flood offers ten times as many requests as are worked off, and a good
 * application one in each tenth of a second.
 *
 * @returns How many of its hundred were served.
 */
const serveBeside = async (
  good: string,
  floodName: (request: number) => string,
): Promise<number> => {
  const admission = admissionOf({});
  const working: Place[] = [];
  let [served, flooded] = [0, 0];
  const ask = (apId: string, onServed: () => void): void => {
    void Promise.resolve(admission.enter('sign', apId)).then((place) => {
      if (place === undefined) return;
      working.push(place);
      onServed();
    });
  };
  for (let tick = 0; tick < 130; tick += 1) {
    for (let request = 0; request < 200; request += 1) {
      ask(floodName(flooded), () => undefined);
      flooded += 1;
    }
    if (tick < 100)
      ask(good, () => {
        served += 1;
      });
    await vi.advanceTimersByTimeAsync(100);
    for (const place of working.splice(0, 20)) place.leave();
  }
  return served;
};

describe('a flood of names that nobody registered', () => {
  it('leaves an application that is registered its turns', async () => {
    expect(await serveBeside(some, invented)).toBe(100);
  });

  it('that is one name leaves another such name its turns', async () => {
    expect(await serveBeside(invented(1), () => invented(2))).toBe(100);
  });

  it('is refused name by name, but counted as a few', () => {
    const admission = admissionOf({ maxInHand: 490 });
    for (let request = 0; request < 1000; request += 1)
      void admission.enter('sign', invented(request));
    expect(enterAll(admission, 5, some).filter((entered) => entered !== undefined)).toHaveLength(5);
  });
});

const send = async (
  admission: Admission,
  operation: OperationHandler,
  name: 'sign' | 'status',
  body: object,
): Promise<Response> => {
  const { routes } = createServiceRoutes({
    protocol,
    operations: { sign: operation, status: operation, receipt: operation, profile: operation },
    evidenceOf: () => ({ clientCertificateFingerprint: undefined }),
    limits: { maxBytes: 65_536, timeoutMs: 60_000 },
    admission,
    now: Date.now,
    log: { answered: () => undefined, trouble: () => undefined },
  });
  return routes.request(`/rest/service/${name}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
};

describe('a refusal for the sake of an application', () => {
  it('is sent after a while, and another application does not wait for that', async () => {
    const admission = admissionOf({ maxBacklog: 1 });
    waitingOfSome = 1;
    const served: OperationHandler = async () => ({ status: 200, body: {}, trace: {} });
    const answers: string[] = [];
    const ask = async (apId: string): Promise<void> => {
      const { status, headers } = await send(admission, served, 'sign', signRequest({ apId }));
      answers.push(`${apId} ${status} ${headers.get('retry-after')}`);
    };
    void ask(some);
    void ask(other);
    await vi.advanceTimersByTimeAsync(99);
    expect(answers).toEqual([`${other} 200 null`]);
    await vi.advanceTimersByTimeAsync(100);
    expect(answers).toEqual([`${other} 200 null`, `${some} 500 1`]);
  });
});

describe('a stranger', () => {
  it('who is not let in takes no places from the applications', () => {
    const admission = admissionOf({});
    placeOf(admission.enter('sign', other)).stepAside();
    const crowd = enterAll(admission, atOnce, some);
    expect(crowd.filter((entered) => !(entered instanceof Promise))).toHaveLength(atOnce);
  });

  it('whose request cannot be read takes no places from them either', async () => {
    const admission = admissionOf({});
    const status = createStatus({
      protocol,
      providers: createApplicationProviders({
        providers: [],
        sandbox: true,
        rateLimiter: { take: async () => true },
        passwords: createPasswordVerifier(),
      }),
      transactions: createTransactions({
        shards: [],
        endings: [],
        protocol,
        readEnd: async () => ({ kind: 'open' }),
        retention: { signedMs: 1000, failedMs: 1000 },
        now: Date.now,
      }),
      now: Date.now,
    });
    const answer = await send(admission, status, 'status', {
      MSS_StatusReq: { AP_Info: { AP_ID: other } },
    });
    expect(await answer.json()).toMatchObject({ Fault: { Code: { SubCode: { Value: '_102' } } } });
    const crowd = enterAll(admission, atOnce, some);
    expect(crowd.filter((entered) => !(entered instanceof Promise))).toHaveLength(atOnce);
  });

  it('who names the logins of a tenant refuses them nothing', async () => {
    const admission = admissionOf({ maxInHand: 4 });
    const releases: (() => void)[] = [];
    let answers: Promise<Response>[] = [];
    await new Promise<void>((resolve) => {
      const hold: OperationHandler = async () => {
        await new Promise<void>((release) => {
          releases.push(release);
          if (releases.length === 3) resolve();
        });
        return { status: 200, body: {}, trace: {} };
      };
      answers = Array.from({ length: 3 }, () =>
        send(admission, hold, 'sign', signRequest({ apId: loginApId('main') })),
      );
    });
    expect(admission.refuses('sign', loginApId('main'))).toBe(false);
    for (const release of releases) release();
    await Promise.all(answers);
  });

  it('who names them at the addresses of workflows refuses them nothing either', async () => {
    const admission = admissionOf({ maxInHand: 4 });
    const releases: (() => void)[] = [];
    const { routes } = createWorkflowRoutes({
      workflows: {} as never,
      presents: {},
      providers: {
        isRegistered: () => false,
        authorize: async () => {
          await new Promise<void>((release) => releases.push(release));
          return refuse(104);
        },
      },
      admission,
      evidenceOf: () => ({ clientCertificateFingerprint: undefined }),
      limits: { maxBytes: 1000, timeoutMs: 1000 },
      now: Date.now,
      log: { answered: () => undefined, trouble: () => undefined },
    });
    const headers = { authorization: basic(loginApId('main')), 'content-type': 'application/json' };
    const start = () =>
      routes.request('/workflows/process', { method: 'POST', headers, body: '{}' });
    const answers = Array.from({ length: 3 }, start);
    await vi.waitFor(() => expect(releases).toHaveLength(3), 20_000);
    expect(admission.refuses('sign', loginApId('main'))).toBe(false);
    for (const release of releases) release();
    for (const { status } of await Promise.all(answers)) expect(status).toBe(401);
  });
});

describe('a clock that is set', () => {
  it('dismisses nobody who waits for a turn', async () => {
    const admission = admissionOf({});
    const [first] = enterAll(admission, atOnce).map(placeOf);
    const waiting = admission.enter('sign');
    vi.setSystemTime(Date.now() + 3_600_000);
    await vi.advanceTimersByTimeAsync(200);
    first?.leave();
    expect(await waiting).toBeDefined();
  });
});

describe('refusals', () => {
  it('are reported as a number, once a second', async () => {
    const admission = admissionOf({ maxBacklogInAll: 1 });
    waitingForWorkers = 1;
    for (let times = 0; times < 500; times += 1) admission.refuses('sign');
    expect(reports).toEqual([]);
    await vi.advanceTimersByTimeAsync(1000);
    expect(reports).toEqual([[{ count: 500, shortage: 'transactions waiting', apId: undefined }]]);
    await vi.advanceTimersByTimeAsync(5000);
    expect(reports).toHaveLength(1);
    admission.refuses('sign');
    await vi.advanceTimersByTimeAsync(1000);
    expect(reports).toHaveLength(2);
  });

  it('are reported by application, as long as these are few', async () => {
    const admission = admissionOf({ maxBacklogInAll: 1 });
    waitingForWorkers = 1;
    admission.refuses('sign', some);
    for (let times = 0; times < 9; times += 1) admission.refuses('sign', other);
    for (let name = 0; name < 1000; name += 1) admission.refuses('sign', `http://${name}.example`);
    await vi.advanceTimersByTimeAsync(1000);
    const [report = []] = reports;
    const countOf = (wanted: string | undefined) =>
      report.find(({ apId }) => apId === wanted)?.count;
    expect([countOf(some), countOf(other), countOf(undefined)]).toEqual([1, 9, 982]);
    expect(report).toHaveLength(21);
  });
});
