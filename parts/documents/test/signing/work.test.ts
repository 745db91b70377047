/**
 * What is done for a signature, cut off at each moment and run again: with a real Redis, a real
 * store in a folder, and real keys.
 */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createKeyCustody } from '../../../../packages/pki/src/custody.ts';
import { createMemoryCustodyStore } from '../../../../test/support/memory-custody-store.ts';
import { testRedis } from '../../../../test/support/redis.ts';
import { openProofs } from '../../../certificates/index.ts';
import type { Completion, InProcess } from '../../../processes/index.ts';
import { openDocumentConsole } from '../../console/process-documents.ts';
import { shownDocuments } from '../../console/shown.ts';
import { verifyPdf } from '../../pdf/index.ts';
import { createDocumentRecords } from '../../records.ts';
import { createResults, resultIdOf } from '../../signing/results.ts';
import { createSigningWork, type SigningOptions } from '../../signing/work.ts';
import { createFileStore } from '../../store/file-store.ts';
import { createFileSeals } from '../../store/sealed-file.ts';
import { type DocumentStore, readWhole, StoreError } from '../../store/store.ts';
import { makePdf } from '../stage.ts';

const redis = testRedis();
const apId = 'mid://ap.example';
const now = Date.now;
const dayMs = 86_400_000;
let stages = 0;

const createStage = async () => {
  stages += 1;
  const prefix = `${redis.prefix}-${stages}`;
  const folder = mkdtempSync(join(tmpdir(), 'paraph-signing-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const client = redis.client();
  const store = createFileStore({
    folder,
    seals: createFileSeals(randomBytes(32)),
    minFreeBytes: 0,
    now,
  });
  const records = createDocumentRecords({ redis: client, prefix, now });
  const results = createResults({ redis: client, prefix });
  const custody = createKeyCustody({
    store: createMemoryCustodyStore(),
    serviceKey: randomBytes(32),
    now,
  });
  const id = `D${'0'.repeat(32)}`;
  const pdf = makePdf('Lease of flat 7');
  const source = async function* () {
    yield pdf;
  };
  const stored = await store.put(id, source());
  const createdAt = now();
  await records.add({
    id,
    apId,
    title: 'Lease',
    pages: 1,
    ...stored,
    createdAt,
    expiresAt: createdAt + dayMs,
  });
  const options: SigningOptions = {
    documents: {
      find: async (_, document) => records.find(document),
      use: records.use,
    },
    store,
    results,
    custody,
    proofs: openProofs({ settings: { pki: {} } as never, custody, now }),
    level: 'B-LT',
    retentionMs: dayMs,
    now,
  };
  const process: InProcess = {
    apId,
    id: '7',
    instance: 'tenant-process--7',
    createdAt,
    now: now(),
    signal: new AbortController().signal,
  };
  const result = resultIdOf({ ...process, name: '1' });
  const prepared = await createSigningWork(options).prepare(
    { members: { documents: [{ document: id }] }, steps: [], until: now() + dayMs },
    process,
  );
  if (prepared.kind !== 'added') throw new Error(prepared.problem);
  const completionOf = async (transaction: string, index = 1): Promise<Completion> => {
    const msisdn = `4170009250${index}`;
    const { chain } = await custody.userKey({
      msisdn,
      sscdId: 'sim',
      algorithm: index === 2 ? 'RSA' : 'EC',
      expired: false,
    });
    return {
      step: 'board',
      key: String(index),
      child: `0-${index}-0`,
      person: { name: `Person ${index}`, msisdn: `+${msisdn}`, text: 'x' },
      members: { document: '1' },
      prepared: prepared.members,
      signed: {
        kind: 'signed',
        msspTransId: transaction,
        at: now(),
        attempt: 1,
        proof: { cms: '', certificates: chain.id },
      },
    };
  };
  return {
    folder,
    id,
    pdf,
    store,
    results,
    records,
    process,
    result,
    completionOf,
    prepared: prepared.members,
    console: () => openDocumentConsole({ redis: client, prefix, now } as never),
    work: (change: Partial<SigningOptions> = {}) => createSigningWork({ ...options, ...change }),
    read: async (): Promise<Uint8Array> => {
      const record = await records.find(result);
      if (record === undefined) throw new Error('There is no result');
      const bytes = await store.read(result, record);
      if (bytes === undefined) throw new Error('The file of the result is missing');
      return readWhole(bytes, record.size);
    },
    judge: async (bytes: Uint8Array) => verifyPdf(bytes, { roots: await custody.trust() }),
  };
};

const crash = new Error('killed');
/** Does its work `before` or not, and then is cut off, once. */
const cutOff = <Args extends readonly unknown[], T>(
  call: (...args: Args) => Promise<T>,
  before: boolean,
) => {
  let isCut = false;
  return async (...args: Args): Promise<T> => {
    if (isCut) return call(...args);
    isCut = true;
    if (before) await call(...args);
    throw crash;
  };
};

describe('a signature of a document', () => {
  it.each([
    ['before the file is kept', false, 'put'],
    ['after the file is kept', true, 'put'],
    ['before the list of revisions has it', false, 'follow'],
    ['after the list of revisions has it', true, 'follow'],
    ['while the newest revision is read', false, 'read'],
    ['before the turn is over', false, 'endTurn'],
  ] as const)('is there once when it is cut off %s', async (_, before, at) => {
    const stage = await createStage();
    const { store, results } = stage;
    const completion = await stage.completionOf('T1');
    const killed = stage.work({
      store: {
        put: at === 'put' ? cutOff(store.put, before) : store.put,
        read: at === 'read' ? cutOff(store.read, before) : store.read,
      },
      results: {
        ...results,
        ...(at === 'follow' && { follow: cutOff(results.follow, before) }),
        ...(at === 'endTurn' && { endTurn: cutOff(results.endTurn, before) }),
      },
    });
    await expect(killed.complete(completion, stage.process)).rejects.toThrow('killed');
    // What another process sees meanwhile is whole: nothing, or the revision.
    const meanwhile = await stage.records.find(stage.result);
    if (meanwhile !== undefined)
      expect(await stage.judge(await stage.read())).toMatchObject({ ok: true });
    await results.endTurn(stage.result, 'nobody');
    const turn = redis.client();
    for (const key of await turn.keys('*:turn:*')) await turn.del(key);
    const again = await stage.work().complete(completion, stage.process);
    expect(again).toMatchObject({ kind: 'added', members: { document: { how: 'signed' } } });
    expect(await stage.work().complete(completion, stage.process)).toEqual(again);
    const report = await stage.judge(await stage.read());
    expect(report).toMatchObject({ ok: true, signatures: [{ level: 'B-LT' }] });
  });

  it('loses none of five people who sign at the same time in two processes', async () => {
    const stage = await createStage();
    const all = await Promise.all(
      [1, 2, 3, 4, 5].map((index) => stage.completionOf(`T${index}`, index)),
    );
    const works = [stage.work(), stage.work()];
    await Promise.all(all.map((each, index) => works[index % 2]?.complete(each, stage.process)));
    const report = await stage.judge(await stage.read());
    expect(report).toMatchObject({ ok: true, signatures: Array(5).fill({ level: 'B-LT' }) });
  });

  it('loses none when the turn of another one has passed while it goes on', async () => {
    const stage = await createStage();
    const [one, two] = await Promise.all([stage.completionOf('T1'), stage.completionOf('T2', 2)]);
    const free = { takeTurn: async () => true, endTurn: async () => undefined };
    const works = [1, 2].map(() => stage.work({ results: { ...stage.results, ...free } }));
    await Promise.all([
      works[0]?.complete(one, stage.process),
      works[1]?.complete(two, stage.process),
    ]);
    const report = await stage.judge(await stage.read());
    expect(report).toMatchObject({ ok: true, signatures: Array(2).fill({ level: 'B-LT' }) });
  });

  it('is not made when the document is not what it was: nobody signs what was exchanged', async () => {
    const stage = await createStage();
    const exchanged = makePdf('Lease of flat 8');
    const other = {
      put: stage.store.put,
      read: async () =>
        (async function* () {
          yield exchanged;
        })(),
    } satisfies Pick<DocumentStore, 'put' | 'read'>;
    expect(exchanged).toHaveLength(stage.pdf.length);
    const completion = await stage.completionOf('T1');
    expect(await stage.work({ store: other }).complete(completion, stage.process)).toEqual({
      kind: 'unusable',
      problem: 'The document 1 is not what it was when the process began',
    });
    expect(await stage.records.find(stage.result)).toBeUndefined();
  });

  it('is not made when a byte of the file was changed on the disk', async () => {
    const stage = await createStage();
    const files = join(stage.folder, 'files');
    const [file = ''] = readdirSync(files, { recursive: true, encoding: 'utf8' }).filter(
      (name) => name.split('/').length === 3,
    );
    const bytes = readFileSync(join(files, file));
    bytes[bytes.length - 20] = (bytes[bytes.length - 20] ?? 0) ^ 1;
    writeFileSync(join(files, file), bytes);
    const completion = await stage.completionOf('T1');
    expect(await stage.work().complete(completion, stage.process)).toMatchObject({
      kind: 'unusable',
    });
  });

  it.each(['full', 'away'] as const)('waits while the store is %s', async (trouble) => {
    const stage = await createStage();
    const completion = await stage.completionOf('T1');
    const broken = { ...stage.store, put: async () => Promise.reject(new StoreError(trouble)) };
    await expect(
      stage.work({ store: broken }).complete(completion, stage.process),
    ).rejects.toBeInstanceOf(StoreError);
    expect(await stage.work().complete(completion, stage.process)).toMatchObject({ kind: 'added' });
  });

  it('is sealed by the service when the key of the person is elsewhere, and says so', async () => {
    const stage = await createStage();
    const completion = await stage.completionOf('T1');
    const { signed } = completion;
    const behindGateway: Completion = {
      ...completion,
      signed: { ...signed, proof: { cms: '', upstream: { gateway: 'live', msspTransId: 'U1' } } },
    };
    expect(await stage.work().complete(behindGateway, stage.process)).toMatchObject({
      kind: 'added',
      members: { document: { how: 'sealed' } },
    });
    const { ok, signatures } = await stage.judge(await stage.read());
    expect([ok, signatures[0]?.signer?.name]).toEqual([true, 'Paraph Seals']);
    expect(signatures[0]?.reason).toContain('Sealed by the service');
  });

  it('is told to operators, with who has opened the document', async () => {
    const stage = await createStage();
    const { process } = stage;
    const told = async () =>
      (await stage.console()).toldOf(process, stage.prepared, [{ name: 'board' }]);
    expect(await told()).toMatchObject({
      documents: [{ title: 'Lease', opened: [], signatures: [] }],
    });
    await stage.records.noteOpened(stage.id, `${process.instance} 0-anna-b-0`);
    await stage.records.noteOpened(stage.id, 'another-process--7 0-1-0');
    await stage.work().complete(await stage.completionOf('T1'), process);
    const members = await told();
    const at = expect.any(Number);
    expect(members).toMatchObject({
      documents: [
        {
          result: stage.result,
          opened: [{ step: 'board', key: 'anna-b', at }],
          signatures: [{ step: 'board', name: 'Person 1', how: 'signed', level: 'B-LT', at }],
        },
      ],
    });
    const page = (await stage.console()).section(members, {} as never);
    expect(String(await page)).toContain('Person 1: signed, B-LT');
    expect(shownDocuments(members).map(([, value]) => value)).toEqual([
      expect.stringContaining('Lease, 1 page, code'),
      expect.stringContaining('opened by board: anna-b'),
      expect.stringContaining('signed by board: Person 1, B-LT'),
      `with signatures: ${stage.result}`,
    ]);
  });

  it('is not removed while its process goes on, and may be at its end', async () => {
    const stage = await createStage();
    const [one, two] = await Promise.all([stage.completionOf('T1'), stage.completionOf('T2', 2)]);
    await stage.work().complete(one, stage.process);
    expect(await stage.records.remove(stage.result)).toBe('used');
    await stage.work().complete(two, stage.process);
    expect((await stage.judge(await stage.read())).signatures).toHaveLength(2);
    const report = { added: one.prepared } as never;
    await stage.work().finish({ report, evidence: 'a.b.c' }, stage.process);
    expect(await stage.records.remove(stage.result)).toBe('removed');
    // Who had the page open meanwhile leaves nothing behind.
    await stage.records.noteOpened(stage.result, 'process--7 0-1-0');
    expect(await stage.records.isKnown(stage.result)).toBe(false);
  });

  it('is not added after the end of its process', async () => {
    const stage = await createStage();
    const [one, two] = await Promise.all([stage.completionOf('T1'), stage.completionOf('T2', 2)]);
    await stage.work().complete(one, stage.process);
    const report = { added: one.prepared } as never;
    const finish = () => stage.work().finish({ report, evidence: 'a.b.c' }, stage.process);
    const finished = await finish();
    expect(finished).toMatchObject({
      documents: [{ signed: { document: stage.result, signatures: [{ key: '1' }] } }],
    });
    expect(await stage.work().complete(two, stage.process)).toEqual({
      kind: 'unusable',
      problem: 'The process has ended',
    });
    expect(await finish()).toEqual(finished);
    const found = await stage.records.find(stage.result);
    expect((found?.expiresAt ?? 0) - now()).toBeLessThanOrEqual(dayMs);
  });
});
