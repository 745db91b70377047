import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { Redis } from 'ioredis';
import { describe, expect, it } from 'vitest';
import { fromPromise, setup } from 'xstate';
import { compileProgram } from '../../../test/support/program.ts';
import { testRedis } from '../../../test/support/redis.ts';
import { activity, defineWorkflow, later } from '../src/define.ts';
import {
  Journal,
  leavesOf,
  lineOf,
  maxKeptLines,
  maxLines,
  readLines,
  toldError,
} from '../src/journal.ts';
import { entryText } from '../src/journal-words.ts';
import { addressOf, type InstanceRecord } from '../src/record.ts';
import { createInstanceStore } from '../src/redis/instance-store.ts';
import { noParts } from '../src/redis/record-parts.ts';
import { tellingWorkflow } from './journal-chart.ts';
import { createGate, createStage } from './stage.ts';

const redis = testRedis();
const newStage = createStage(redis);

/** The lines of the journal that people read, without times. */
const textsOf = async (
  stage: ReturnType<typeof newStage>,
  id: string,
): Promise<readonly string[]> => {
  const { entries } = await stage.engine.journal(id);
  return entries.map((entry) =>
    entryText(entry)
      .replace(/, \d+ ms/, '')
      .replaceAll(/ +/g, ' '),
  );
};

describe('a line of the journal', () => {
  it('is read as it was written, for each kind', () => {
    const of = { at: 1_764_000_000_000, path: 'a/b%20c' };
    const error = { name: 'TypeError', message: 'No such file', code: 'ENOENT' };
    const entries = [
      { ...of, kind: 'state', entered: ['steps/open', 'x%2Ey'] },
      { ...of, kind: 'event', type: 'PAID', result: 'taken', key: 'app/1' },
      { ...of, kind: 'event', type: 'PAID', result: 'refused', key: 'app/1', times: 3 },
      { ...of, kind: 'event', type: 'REPLAY', result: 'taken' },
      { ...of, kind: 'activity', name: 'charge', attempt: 1, stage: 'begun' },
      { ...of, kind: 'activity', name: 'charge', attempt: 2, stage: 'done', tookMs: 0 },
      { ...of, kind: 'activity', name: 'charge', attempt: 3, stage: 'failed', error },
      {
        ...of,
        kind: 'activity',
        name: 'charge',
        attempt: 3,
        stage: 'failed',
        tookMs: 4,
        error: { name: 'Error' },
      },
      { ...of, kind: 'timer', name: '1 day' },
      { ...of, kind: 'effect', name: 'notify', number: 4 },
      { ...of, kind: 'child', name: 'line', stage: 'begun' },
      { ...of, kind: 'child', name: 'line', stage: 'failed', error: { ...error, code: 4 } },
      { ...of, kind: 'error', error },
    ] as const;
    const lines = entries.map(lineOf);
    expect(lines.join('')).not.toContain('\n');
    expect(readLines(lines)).toEqual(entries);
    expect(readLines([lineOf(entries[9])], new Set([4]))).toEqual([
      { ...entries[9], isPending: true },
    ]);
  });

  it('is left out where another program has written it', () => {
    const strange = [
      '',
      'hello',
      '{}',
      'null',
      '[]',
      '[1]',
      '[1,"state","",[1]]',
      '["1","timer","","x"]',
    ];
    strange.push(
      '[1,"event","","A","maybe",""]',
      '[1,"activity","","a","1","done"]',
      '[1,"other","","x"]',
    );
    strange.push(
      '[1,"effect","","x"]',
      '[1,"child","","x","y"]',
      '[1,"error","","x"]',
      '[1,"activity","","a",1,"x"]',
    );
    expect(readLines(strange)).toEqual([]);
  });

  it('is bounded, and has an error in one line', () => {
    const long = 'x'.repeat(10_000);
    const error = toldError(
      Object.assign(new Error(`first\nsecond ${long}`), { name: long, code: long }),
    );
    expect(error.message).toBe('first');
    const line = lineOf({ kind: 'child', at: 1, path: long, name: long, stage: 'failed', error });
    expect(line.length).toBeLessThan(1600);
    expect(toldError('thrown')).toEqual({ name: 'Error', message: 'thrown' });
    expect(toldError(undefined)).toEqual({ name: 'Error', message: 'undefined' });
  });
});

describe('the journal of a turn', () => {
  it('has the innermost states that a step enters', () => {
    expect(leavesOf({ a: { b: 'c', d: {} }, 'e.f': 'g/h' })).toEqual(['a/b/c', 'a/d', 'e.f/g%2Fh']);
    const journal = new Journal();
    journal.state(1, '', undefined, { a: 'one', b: 'two' });
    journal.state(2, '', { a: 'one', b: 'two' }, { a: 'one', b: 'three' });
    journal.state(3, '', { a: 'one', b: 'three' }, { a: 'one', b: 'three' });
    const entered = readLines(journal.lines().lines).map(
      (entry) => 'entered' in entry && entry.entered,
    );
    expect(entered).toEqual([['a/one', 'b/two'], ['b/three']]);
  });

  it('has one line for a try that begins and ends in it, and forgets what is undone', () => {
    const journal = new Journal();
    const charge = { path: 'charge', run: 1, src: 'charge' };
    journal.activity(5, charge, 'begun');
    journal.activity(8, charge, 'failed', new Error('no'));
    journal.activity(9, { ...charge, failures: 1 }, 'begun');
    const mark = journal.mark();
    journal.tell({ kind: 'timer', at: 9, path: '', name: 'x' });
    journal.back(mark);
    expect(readLines(journal.lines().lines)).toEqual([
      {
        at: 8,
        kind: 'activity',
        path: 'charge',
        name: 'charge',
        attempt: 1,
        stage: 'failed',
        tookMs: 3,
        error: { name: 'Error', message: 'no' },
      },
      { at: 9, kind: 'activity', path: 'charge', name: 'charge', attempt: 2, stage: 'begun' },
    ]);
  });

  it('keeps the last lines of a turn that goes on for long', () => {
    const journal = new Journal();
    const all = 10 * maxKeptLines;
    for (let at = 0; at < all; at += 1) journal.tell({ kind: 'timer', at, path: '', name: 'x' });
    const { lines, dropped } = journal.lines();
    expect(lines.length + dropped).toBe(all);
    expect(lines.length).toBeLessThanOrEqual(maxKeptLines);
    expect(lines.length).toBeGreaterThanOrEqual(maxLines);
    expect(readLines(lines).at(-1)?.at).toBe(all - 1);
  });
});

const secret = '+41791234567';

describe('the journal of an instance', () => {
  it('tells states, events, tries, timers, effects and children, and no value', async () => {
    const stage = newStage();
    const line = setup({}).createMachine({
      initial: 'open',
      states: { open: { on: { CLOSE: 'closed' } }, closed: { type: 'final' } },
    });
    let tries = 0;
    const order = defineWorkflow({
      name: 'order',
      version: 1,
      chart: setup({
        actors: {
          line,
          charge: activity<{ card: string }, string>(
            async () => {
              tries += 1;
              if (tries === 1)
                throw Object.assign(new Error('The bank is away\nsecret'), { code: 'EAWAY' });
              return secret;
            },
            { attempts: 2, backoffMs: 1 },
          ),
        },
        actions: { notify: (_, __: { text: string }) => undefined },
        delays: { soon: 1 },
      }).createMachine({
        context: { number: secret },
        initial: 'resting',
        states: {
          resting: { after: { soon: 'charging' } },
          charging: { invoke: { src: 'charge', input: { card: secret }, onDone: 'lines' } },
          lines: {
            entry: { type: 'notify', params: { text: secret } },
            invoke: { src: 'line', id: 'first line', onDone: 'done' },
          },
          done: { type: 'final' },
        },
      }),
    });
    await stage.work([order]);
    await stage.engine.start(order, 'o-1', { number: secret });
    await stage.until('o-1', ({ record }) => record?.value === 'lines');
    const event = { type: 'CLOSE', number: secret };
    const send = (key: string) =>
      stage.engine.send(order, addressOf('o-1', 'first%20line'), key, event, { judged: true });
    // The instance itself does not take it.
    for (const key of ['app/0', 'app/1'])
      expect(await stage.engine.send(order, 'o-1', key, event, { judged: true })).toBe('refused');
    expect(await send('app/2')).toBe('taken');
    await stage.ended('o-1');
    expect(await textsOf(stage, 'o-1')).toEqual([
      'state resting',
      'timer soon',
      'state charging',
      'activity charge failed, try 1: Error (EAWAY) – The bank is away',
      'activity charge done, try 2',
      'effect notify',
      'child line begun',
      'state open (in first line)',
      'state lines',
      'event CLOSE refused, 2 times (app/1)',
      'event CLOSE taken (app/2) (in first line)',
      'state closed (in first line)',
      'child line done',
      'state done',
    ]);
    const stored = await stage.redis.lrange(stage.queue.toKey('o-1:logs'), 0, -1);
    expect(stored.join('\n')).not.toContain(secret);
    // As BullMQ and dashboards read it, and it goes with the job.
    const job = await stage.queue.getJob('o-1');
    expect((await stage.queue.getJobLogs('o-1')).logs).toEqual(stored);
    await job?.remove();
    expect(await stage.redis.exists(stage.queue.toKey('o-1:logs'))).toBe(0);
  });

  it('is off where the workflow says so', async () => {
    const stage = newStage();
    const chart = setup({}).createMachine({
      initial: 'open',
      states: { open: { on: { END: 'end' } }, end: { type: 'final' } },
    });
    const quiet = defineWorkflow({ name: 'quiet', version: 1, chart, journal: false });
    await stage.work([quiet]);
    await stage.engine.start(quiet, 'q-1');
    await stage.engine.send(quiet, 'q-1', 'a', { type: 'NONE' }, { judged: true });
    await stage.engine.send(quiet, 'q-1', 'b', { type: 'END' }, { judged: true });
    await stage.ended('q-1');
    expect(await stage.engine.journal('q-1')).toEqual({ entries: [], dropped: 0 });
    expect(await stage.redis.exists(stage.queue.toKey('q-1:logs'))).toBe(0);
    expect(await stage.engine.journal('none')).toEqual({ entries: [], dropped: 0 });
  });

  it.each([true, false])('tells another run of a failed instance, journal: %s', async (journal) => {
    const stage = newStage();
    const chart = setup({}).createMachine({
      initial: 'bad',
      states: { bad: { meta: { job: 'failed' }, on: { REPLAY: 'good' } }, good: { type: 'final' } },
    });
    const again = defineWorkflow({ name: 'again', version: 1, chart, journal });
    await stage.work([again]);
    await stage.engine.start(again, 'j-1');
    await stage.ended('j-1');
    await (await stage.queue.getJob('j-1'))?.retry('failed');
    await stage.until('j-1', ({ ended }) => ended === 'completed');
    expect(await textsOf(stage, 'j-1')).toEqual(
      journal ? ['state bad', 'event REPLAY taken', 'state good'] : [],
    );
  });

  it('tells the error of a chart, of a child, and what a state left behind', async () => {
    const stage = newStage();
    const broken = setup({}).createMachine({
      initial: 'open',
      states: {
        open: {
          always: {
            guard: () => {
              throw new TypeError('no such guard');
            },
            target: 'end',
          },
        },
        end: {},
      },
    });
    const failing = defineWorkflow({
      name: 'failing',
      version: 1,
      chart: setup({
        actors: { broken, sign: activity<unknown, string>(async () => later) },
      }).createMachine({
        initial: 'asking',
        states: {
          asking: { invoke: { src: 'sign' }, on: { GO: 'trying' } },
          trying: { invoke: { src: 'broken', id: 'one', onError: 'failing' } },
          failing: {
            invoke: { src: 'sign' },
            on: {
              GO: {
                guard: () => {
                  throw new RangeError('too far');
                },
                target: 'end',
              },
            },
          },
          end: {},
        },
      }),
    });
    await stage.work([failing]);
    await stage.engine.start(failing, 'f-1');
    for (const value of ['asking', 'failing']) {
      await stage.until('f-1', ({ record }) => record?.value === value);
      await stage.engine.send(failing, 'f-1', value, { type: 'GO' }, { judged: true });
    }
    await stage.ended('f-1');
    const texts = await textsOf(stage, 'f-1');
    expect(texts.slice(0, 4)).toEqual([
      'state asking',
      'activity sign is answered later',
      'event GO taken (asking)',
      'child broken begun',
    ]);
    expect(
      texts.filter((each) => each === 'activity sign given up: its state was left'),
    ).toHaveLength(2);
    expect(texts).toContain('child broken failed: TypeError – no such guard');
    expect(texts.filter((each) => each.startsWith('error'))).toEqual([
      expect.stringMatching(/the chart has failed: Error – .* too far$/),
    ]);
  });

  it('tells the answers of an activity that come by token, and that it took too long', async () => {
    const stage = newStage();
    const tokens: string[] = [];
    const asking = defineWorkflow({
      name: 'asking',
      version: 1,
      chart: setup({
        actors: {
          ask: activity<unknown, string>(async ({ token }) => {
            tokens.push(token);
            return later;
          }),
          slow: activity<unknown, string>(() => new Promise(() => undefined), { timeoutMs: 30 }),
        },
      }).createMachine({
        initial: 'first',
        states: {
          first: { invoke: { src: 'ask', onError: 'second' } },
          second: { invoke: { src: 'slow', onError: 'third' } },
          third: { invoke: { src: 'ask', onDone: 'end' } },
          end: { type: 'final' },
        },
      }),
    });
    await stage.work([asking]);
    await stage.engine.start(asking, 'a-1');
    await stage.until('a-1', ({ record }) => record?.value === 'first' && tokens.length === 1);
    expect(await stage.engine.answer(tokens[0] ?? '', { error: new Error('refused') })).toBe(
      'taken',
    );
    await stage.until('a-1', ({ record }) => record?.value === 'third' && tokens.length === 2);
    expect(await stage.engine.answer(tokens[1] ?? '', { output: 'yes' })).toBe('taken');
    await stage.ended('a-1');
    expect(await textsOf(stage, 'a-1')).toEqual([
      'state first',
      'activity ask is answered later',
      'activity ask failed, try 1: Error – refused',
      'state second',
      'activity slow begun',
      'activity slow failed, try 1: TimeoutError – The activity took longer than 30 ms',
      'state third',
      'activity ask is answered later',
      'activity ask done',
      'state end',
    ]);
    expect(stage.troubles.map(({ name, message }) => `${name}: ${message}`)).toEqual([
      'TimeoutError: The activity took longer than 30 ms',
    ]);
  });

  it('has the last two hundred lines or some more, and says how many are gone', async () => {
    const stage = newStage();
    const chart = setup({}).createMachine({
      initial: 'a',
      states: { a: { on: { GO: 'b' } }, b: { on: { GO: 'a' } } },
    });
    const turning = defineWorkflow({ name: 'turning', version: 1, chart });
    await stage.work([turning]);
    await stage.engine.start(turning, 't-1');
    const sent = 180;
    for (let count = 0; count < sent; count += 1) {
      const each = { type: 'GO' };
      expect(await stage.engine.send(turning, 't-1', `k-${count}`, each, { judged: true })).toBe(
        'taken',
      );
    }
    await stage.until('t-1', ({ record }) => record?.value === 'a');
    await expect
      .poll(async () => {
        const { entries, dropped } = await stage.engine.journal('t-1');
        return entries.length + dropped;
      })
      .toBe(1 + 2 * sent);
    const { entries, dropped } = await stage.engine.journal('t-1');
    expect(dropped).toBeGreaterThan(0);
    expect(entries.length).toBeGreaterThanOrEqual(maxLines);
    expect(entries.length).toBeLessThanOrEqual(maxKeptLines);
  });

  it('shows an effect as not carried out until it is, and the log names it', async () => {
    const stage = newStage();
    const gate = createGate();
    const telling = defineWorkflow({
      name: 'telling',
      version: 1,
      chart: setup({ actions: { notify: () => gate.opened as never } }).createMachine({
        entry: 'notify',
        initial: 'open',
        states: { open: {} },
      }),
    });
    await stage.work([telling]);
    await stage.engine.start(telling, 'e-1');
    await stage.until('e-1', ({ record }) => record !== undefined);
    expect((await textsOf(stage, 'e-1')).filter((each) => each.startsWith('effect'))).toEqual([
      'effect notify (not carried out yet)',
    ]);
    gate.open();
    await stage.until('e-1', ({ record }) => record?.effects === undefined);
    expect((await textsOf(stage, 'e-1')).filter((each) => each.startsWith('effect'))).toEqual([
      'effect notify',
    ]);
  });
});

describe('a commit', () => {
  const told = { lines: ['[1,"timer","","x"]'], dropped: 0 };
  const recordOf = (n: number) => ({ context: { n } }) as unknown as InstanceRecord;

  it('that Redis executes again after a cut connection tells nothing twice', async () => {
    const stage = newStage();
    const connection = new Redis(redis.connection);
    try {
      const store = createInstanceStore(stage.queue, connection, Date.now);
      await stage.queue.add('x@1', {}, { jobId: 'twice' });
      const [job, lock] = [stage.queue.toKey('twice'), stage.queue.toKey('twice:lock')];
      await connection.set(lock, 'token');
      const common = {
        parts: noParts,
        verdicts: [],
        held: [],
        heldUntil: 0,
        released: [],
        replayed: false,
        joinable: undefined,
        // biome-ignore lint/suspicious/noThenProperty: what a turn does next
        then: 'goesOn' as const,
      };
      const sent: unknown[][] = [];
      const evaluate = connection.eval.bind(connection) as (
        ...given: unknown[]
      ) => Promise<unknown>;
      const repeating = Object.assign(Object.create(connection), {
        eval: async (...given: unknown[]) => {
          sent.push(given);
          await evaluate(...given);
          return evaluate(...given);
        },
      }) as Redis;
      const twice = createInstanceStore(stage.queue, repeating, Date.now);
      const commit = (n: number, length: number) =>
        twice.commit('twice', 'token', {
          ...common,
          id: `${sent.length}`,
          record: recordOf(n),
          length,
          told,
        });
      await commit(1, 0);
      expect(await connection.llen(`${job}:logs`)).toBe(1);
      await store.deliver('twice', `out/${randomBytes(4).toString('hex')}`, { type: 'GO' });
      const { length } = await store.readInbox('twice', []);
      expect(length).toBeGreaterThan(0);
      // The record stays as it is: the event was refused.
      await commit(1, length);
      expect(await connection.llen(`${job}:logs`)).toBe(2);
      await commit(2, 0);
      expect(await connection.llen(`${job}:logs`)).toBe(3);
      expect(sent.length).toBe(3);
      // Without the lock nothing is told.
      await store.commit('twice', 'other', {
        ...common,
        id: 'last',
        record: recordOf(3),
        length: 0,
        told,
      });
      expect(await connection.llen(`${job}:logs`)).toBe(3);
    } finally {
      connection.disconnect();
    }
  });
});

describe('a worker that dies between a commit and its effects', () => {
  it('leaves a journal in which nothing stands twice', async () => {
    const stage = newStage();
    const file = await compileProgram(new URL('journal-worker.ts', import.meta.url));
    const address = 'path' in redis.connection ? redis.connection.path : redis.url;
    const { prefix = '' } = stage.queue.opts;
    const dying = spawn(process.execPath, [file, address, prefix], { stdio: 'ignore' });
    let times = 1;
    const telling = tellingWorkflow(async () => {
      times = await stage.redis.incr(`${prefix}:effects`);
    });
    await stage.engine.start(telling, 'c-1');
    const [, signal] = await once(dying, 'exit');
    expect(signal).toBe('SIGKILL');
    const before = [
      'state charging',
      'activity charge done',
      'effect notify (not carried out yet)',
      'state telling',
    ];
    expect(await textsOf(stage, 'c-1')).toEqual(before);
    await stage.work([telling], { worker: { lockDuration: 400, stalledInterval: 100 } });
    await stage.until('c-1', ({ record }) => record !== undefined && record.effects === undefined);
    expect(times).toBe(2);
    expect(
      await stage.engine.send(telling, 'c-1', 'app/ok', { type: 'OK' }, { judged: true }),
    ).toBe('taken');
    await stage.ended('c-1');
    expect(await textsOf(stage, 'c-1')).toEqual([
      ...before.map((each) => each.replace(' (not carried out yet)', '')),
      'event OK taken (app/ok)',
      'state end',
    ]);
  });
});

describe('a plain promise', () => {
  it('that rejects has its message in the journal of an instance that fails', async () => {
    const stage = newStage();
    const failing = defineWorkflow({
      name: 'rejecting',
      version: 1,
      chart: setup({
        actors: {
          archive: fromPromise(async () => Promise.reject(new Error('The archive is full'))),
        },
      }).createMachine({ initial: 'a', states: { a: { invoke: { src: 'archive' } } } }),
    });
    await stage.work([failing]);
    await stage.engine.start(failing, 'r-1');
    await stage.ended('r-1');
    expect(await textsOf(stage, 'r-1')).toEqual([
      'state a',
      'activity archive failed, try 1: Error – The archive is full',
      'error the chart has failed: Error – The archive is full',
    ]);
  });
});
