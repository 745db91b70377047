/**
 * The load: clients that go on whatever happens, each with choices of its own seed, and each noting
 * in the journal what it did and what it was told.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { receiptRequest, signRequest, statusRequest } from '../support/requests.ts';
import { call } from './caller.ts';
import type { Journal, Operation, Told } from './journal.ts';
import type { Operator } from './operator.ts';
import { applicationId, numberOf, type Person } from './people.ts';
import type { Random } from './random.ts';

export const habits = {
  'a robot signs, asynch': 16,
  'a robot signs, synch': 16,
  'a robot thinks, synch': 8,
  'a person refuses, synch': 4,
  'a phone lies still': 10,
  'an App lies still': 8,
  'a phone in a browser is asked': 12,
  'an answer comes at once': 10,
  'an answer comes later': 8,
  'two answers race': 6,
  'a text is sent': 14,
  'a request is repeated': 12,
  'a receipt follows': 10,
  'a failed one is replayed': 10,
  'a status is asked for': 12,
} as const;

export type Habit = keyof typeof habits;
export type Mix = Partial<Record<Habit, number>>;

/** What the clients have learned together: transactions that one can ask about, or replay. */
interface Known {
  readonly ids: string[];
  readonly failed: string[];
}

interface Submitted {
  readonly operation: Operation;
  readonly told: Told;
  readonly msisdn: string;
}

/** How long a client hammers an answer at a transaction that does not take it yet. */
const eagerMs = 4000;

export const runClients = async (options: {
  readonly urls: readonly string[];
  readonly operator: Operator;
  readonly journal: Journal;
  readonly random: Random;
  readonly clients: number;
  readonly mix: Mix;
  /** Longest pause between two things that a client does. */
  readonly pauseMs: number;
  /** Milliseconds since the epoch. */
  readonly until: number;
}): Promise<void> => {
  const { urls, operator, journal, mix, until, pauseMs } = options;
  const known: Known = { ids: [], failed: [] };
  const bag = (Object.keys(mix) as Habit[]).flatMap((habit) =>
    Array<Habit>(mix[habit] ?? 0).fill(habit),
  );

  const learn = (id: string | undefined, told: Told): void => {
    if (id === undefined) return;
    if (!known.ids.includes(id)) known.ids.push(id);
    if (told.kind === 'fault' && told.code >= 200) known.failed.push(id);
  };

  const client = async (name: string, random: Random): Promise<void> => {
    let count = 0;

    const writeSign = (person: Person, mode: 'synch' | 'asynch', timeoutSeconds: number) => {
      const apTransId = `${name}-${++count}`;
      const msisdn = numberOf(person, random);
      const text = `Order ${apTransId}?`;
      const otp = person === 'texted' && { profile: 'http://mid.vendor.ch/MID/v1/OtpProfileText' };
      const body = signRequest({ msisdn, mode, text, timeoutSeconds, apId: applicationId, ...otp });
      body.MSS_SignatureReq.AP_Info.AP_TransID = apTransId;
      const operation: Operation = {
        client: name,
        name: 'sign',
        mode,
        apTransId,
        msisdn,
        text,
        timeoutSeconds,
      };
      return { body, operation, msisdn };
    };

    const send = async (
      { body, operation, msisdn }: ReturnType<typeof writeSign>,
      url = random.pick(urls),
    ): Promise<Submitted> => {
      const asynch = operation.mode === 'asynch';
      const withinMs = asynch ? 10_000 : (operation.timeoutSeconds ?? 0) * 1000 + 12_000;
      const asked: Operation = { ...operation, api: `api-${urls.indexOf(url) + 1}` };
      const told = await journal.record(asked, () => call(url, 'sign', body, { withinMs, asynch }));
      if ('id' in told) learn(told.id, told);
      return { operation, told, msisdn };
    };

    const sign = (
      person: Person,
      mode: 'synch' | 'asynch',
      timeoutSeconds: number,
    ): Promise<Submitted> => send(writeSign(person, mode, timeoutSeconds));

    const status = async (id: string): Promise<Told> => {
      const told = await journal.record({ client: name, name: 'status', id }, () =>
        call(random.pick(urls), 'status', statusRequest(id, applicationId), { withinMs: 10_000 }),
      );
      learn(id, told);
      return told;
    };

    /** Asks until the transaction has ended, a few times. */
    const follow = async (id: string, times: number): Promise<Told> => {
      let told: Told = { kind: 'open' };
      for (let time = 0; time < times && Date.now() < until; time += 1) {
        await delay(random.between(50, 600));
        told = await status(id);
        if (told.kind !== 'open' && told.kind !== 'unknown') break;
      }
      return told;
    };

    /**
     * @param eager Tries until the transaction takes it, which is while its job is about to fall
     * asleep.
     */
    const cancel = async (id: string, attempt: number, eager: boolean): Promise<void> => {
      const detail = `Cancelled by ${name}-${++count}`;
      await journal.record({ client: name, name: 'cancel', id, attempt, detail }, async () => {
        const giveUpAt = Date.now() + (eager ? eagerMs : 0);
        for (;;) {
          const result = await operator.cancel(id, attempt, detail);
          if (typeof result !== 'string') return { kind: 'unknown', cause: result.problem };
          if (result !== 'refused' || Date.now() >= giveUpAt) return { kind: 'answer', result };
          await delay(3);
        }
      });
    };

    const replay = async (): Promise<void> => {
      const id = known.failed.splice(random.below(Math.max(1, known.failed.length)), 1)[0];
      if (id === undefined) return;
      let attempt = 2;
      const told = await journal.record({ client: name, name: 'replay', id }, async () => {
        const result = await operator.replay(id);
        attempt = result.attempt;
        return result.told;
      });
      if (told.kind === 'replayed' && random.chance(0.4)) await cancel(id, attempt, true);
      await follow(id, 3);
    };

    const receipt = async (): Promise<void> => {
      const person = random.pick(['accepter', 'canceller', 'ignorer', 'sleeper'] as const);
      const { told, msisdn } = await sign(person, random.pick(['synch', 'asynch']), 10);
      const id = 'id' in told ? told.id : undefined;
      if (id === undefined) return;
      if (told.kind === 'accepted' && (await follow(id, 6)).kind !== 'signed') return;
      const body = receiptRequest(id, { msisdn, apId: applicationId });
      const once = () =>
        journal.record({ client: name, name: 'receipt', id }, () =>
          call(random.pick(urls), 'receipt', body, { withinMs: 20_000 }),
        );
      await (random.chance(0.3) ? Promise.all([once(), once()]) : once());
    };

    const repeat = async (): Promise<void> => {
      const person = random.pick(['robot', 'thinker', 'silentSim', 'silentApp', 'texted'] as const);
      const request = writeSign(person, 'asynch', random.between(3, 9));
      const both = urls.map((url) => send(request, url));
      await delay(random.between(0, 900));
      const again = await Promise.all([...both, send(request)]);
      for (const { told } of again) if (told.kind === 'accepted') await follow(told.id, 1);
    };

    const answered = async (how: 'at once' | 'later' | 'twice'): Promise<void> => {
      const person = random.pick(['silentSim', 'silentApp'] as const);
      const { told } = await sign(person, 'asynch', 12);
      if (told.kind !== 'accepted') return;
      if (how !== 'at once') await delay(random.between(0, 3000));
      const eager = how === 'at once';
      await Promise.all([
        cancel(told.id, 1, eager),
        ...(how === 'twice' ? [cancel(told.id, 1, false)] : []),
      ]);
      await follow(told.id, 2);
    };

    const submitAndFollow = async (
      person: Person,
      timeoutSeconds: number,
      times: number,
    ): Promise<void> => {
      const { told } = await sign(person, 'asynch', timeoutSeconds);
      if (told.kind === 'accepted') await follow(told.id, times);
    };

    const doing: Readonly<Record<Habit, () => Promise<unknown>>> = {
      'a robot signs, asynch': () => submitAndFollow('robot', 10, 4),
      'a robot signs, synch': () => sign('robot', 'synch', 10),
      'a robot thinks, synch': () => sign('thinker', 'synch', random.between(2, 10)),
      'a person refuses, synch': () => sign('refuser', 'synch', 10),
      'a phone lies still': () => submitAndFollow('silentSim', random.between(2, 3), 2),
      'an App lies still': () => submitAndFollow('silentApp', random.between(2, 8), 2),
      'a phone in a browser is asked': () => submitAndFollow('browser', random.between(6, 12), 4),
      'an answer comes at once': () => answered('at once'),
      'an answer comes later': () => answered('later'),
      'two answers race': () => answered('twice'),
      'a text is sent': () => submitAndFollow('texted', random.between(3, 5), 2),
      'a request is repeated': repeat,
      'a receipt follows': receipt,
      'a failed one is replayed': replay,
      'a status is asked for': async () => {
        if (known.ids.length > 0) await status(random.pick(known.ids));
      },
    };

    while (Date.now() < until) {
      await doing[random.pick(bag)]();
      await delay(random.between(0, pauseMs));
    }
  };

  await Promise.all(
    Array.from({ length: options.clients }, (_, index) => {
      const name = `client-${index + 1}`;
      return client(name, options.random.branch(name));
    }),
  );
};
