import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Role } from '../../../src/console/operators/operator.ts';
import { me, useOperations } from '../../../test/cli/operations-stage.ts';
import { run } from '../../../test/cli/terminal.ts';
import { callerOf } from '../../../test/support/caller.ts';
import { testRedis } from '../../../test/support/redis.ts';
import { soon } from '../../../test/support/soon.ts';
import { undefinedHere } from '../bulk-command.ts';

const root = join(import.meta.dirname, '../../..');
const approval = join(root, 'examples/workflows/document-approval.workflow.mjs');
const folder = mkdtempSync(join(tmpdir(), 'paraph-cli-instances-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const file = (name: string, text: string): string => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};
/** Fails until the file `done` is there. */
const fetching = file(
  'fetching.mjs',
  `import { existsSync } from 'node:fs';
import { activity, defineWorkflow } from ${JSON.stringify(join(root, 'dist/parts/workflows/charts/index.js'))};
import { setup } from ${JSON.stringify(import.meta.resolve('xstate'))};
const look = activity(async () => { if (!existsSync(${JSON.stringify(join(folder, 'done'))})) throw new Error('not there'); });
export const fetching = defineWorkflow({
  name: 'fetching', version: 1, reasonOf: () => 'not there',
  chart: setup({ actors: { look } }).createMachine({ initial: 'looking', states: {
    looking: { invoke: { src: 'look', onDone: 'found', onError: 'missing' } },
    missing: { meta: { job: 'failed' }, on: { REPLAY: 'looking' } },
    found: { type: 'final' } } }) });
export const reopening = defineWorkflow({
  name: 'reopening', version: 1,
  chart: setup({}).createMachine({ initial: 'bad', states: {
    bad: { meta: { job: 'failed' }, on: { '*': 'open' } },
    open: { type: 'final' } } }) });`,
);
const apId = 'mid://approvals.example';
const redis = testRedis();
const stage = useOperations(redis, {}, { listen: true, workflows: [approval, fetching] });
const { json, paraph } = stage;
const { call, until } = callerOf(stage.product);

const tokens = new Map<Role, string>();
beforeAll(async () => {
  for (const role of ['viewer', 'operator'] as const) {
    await json(['users', 'add', role, '--role', role, '--oidc-subject', role]);
    tokens.set(role, (await json(['users', 'token', role])).token);
  }
});
const as = (role: Role, ...args: readonly string[]) =>
  run(['workflow', ...args, '--json'], {
    env: { PARAPH_URL: stage.product().url, PARAPH_TOKEN: tokens.get(role) },
  });

/** @returns The whole id of the instance. */
const start = async (id: string, approver = '+41700092501'): Promise<string> => {
  const input = { document: `D-${id}`, approver };
  expect((await call('POST', 'document-approval', { apId, body: { id, input } })).status).toBe(201);
  return soon(async () => {
    const { workflows } = await json([
      'workflow',
      'ls',
      '--ap',
      apId,
      '--name',
      'document-approval',
    ]);
    const found = workflows.find((each: { id: string }) => each.id === id);
    expect(found?.state).toBeDefined();
    return found.instance;
  });
};
const endOf = (id: string) =>
  until(`document-approval/${id}`, ({ status }) => status !== 'open', apId);

describe('paraph completion-ids', () => {
  it('prints the ids of instances, one a line, but none with a phone number', async () => {
    const instance = await start('completed');
    const ofPerson = await start('41700092599');
    const { exitCode, stdout, stderr } = await paraph(['completion-ids', 'instances']);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    expect(stdout.split('\n')).toContain(instance);
    expect(stdout).not.toContain(ofPerson);
    const env = { PARAPH_URL: stage.product().url, PARAPH_TOKEN: tokens.get('viewer') };
    expect((await run(['completion-ids', 'instances'], { env })).stdout).toBe(stdout);
  });
});

describe('the instances of workflows', () => {
  it('are listed by workflow, status and application, and shown with what their chart publishes', async () => {
    const instance = await start('looked-at');
    const row = {
      instance,
      id: 'looked-at',
      name: 'document-approval',
      version: 1,
      apId,
      status: 'open',
      state: { open: 'waiting' },
      endedAt: null,
    };
    const { workflows } = await json(['workflow', 'ls', '--status', 'open', '--ap', apId]);
    expect(workflows).toContainEqual({ ...row, createdAt: expect.stringMatching(/^20.*Z$/) });
    expect((await json(['workflow', 'ls', '--ap', 'mid://other.example'])).workflows).toEqual([]);
    const shown = await json(['workflow', 'show', instance]);
    expect(shown).toMatchObject({
      instance: row,
      context: { document: 'D-looked-at', reminders: 0 },
    });
    const text = await paraph(['workflow', 'show', instance]);
    expect(text.stdout).toMatch(/state +open\.waiting\n/);
    expect(text.stdout).toMatch(/journal +20\S+Z {2}.*\n/);
    expect(text.stdout).toMatch(/20\S+Z {2}state +open\.waiting\n/);
    expect(shown.journal.entries).toContainEqual(
      expect.objectContaining({ kind: 'state', entered: ['open/waiting'] }),
    );
    expect(text.stdout).not.toContain('+41700092501');
  });

  it('show a viewer neither context nor output, and let operators alone give orders', async () => {
    const instance = await start('seen-by-a-viewer');
    const shown = (await as('viewer', 'show', instance)).json();
    expect(shown).toMatchObject({ instance: { instance, status: 'open' }, next: { name: 'day' } });
    expect(shown).not.toHaveProperty('context');
    for (const args of [
      ['send', instance, 'APPROVE'],
      ['cancel', instance, '--reason', 'x'],
      ['replay', instance],
    ]) {
      const { exitCode, json: read } = await as('viewer', ...args);
      expect([exitCode, read().refused]).toEqual([7, 'forbidden']);
    }
    expect((await as('operator', 'show', instance)).json().context).toEqual({
      document: 'D-seen-by-a-viewer',
      reminders: 0,
    });
  });

  it('take events once for each key, and refuse others', async () => {
    const instance = await start('sent-to');
    const bad = await paraph([
      'workflow',
      'send',
      instance,
      'REJECT',
      '--data',
      '{"reason":7}',
      '--json',
    ]);
    expect([bad.exitCode, bad.json().problem]).toEqual([
      2,
      'reason: Invalid input: expected string, received number.',
    ]);
    const event = [
      'workflow',
      'send',
      instance,
      'REJECT',
      '--data',
      '{"reason":"Page 2"}',
      '--key',
      'mail-1',
    ];
    expect((await json(event)).result).toBe('taken');
    expect((await endOf('sent-to')).output).toMatchObject({ reason: 'Page 2' });
    // Sent again it gets its first verdict.
    expect((await json(event)).result).toBe('taken');
    const late = await paraph([...event.slice(0, -1), 'mail-2', '--json']);
    expect([late.exitCode, late.json().refused]).toEqual([8, 'unknown-instance']);
    const { entries } = await json(['audit', '--target', instance]);
    expect(
      entries.filter(({ action }: { action: string }) => action === 'workflow-event'),
    ).toContainEqual(
      expect.objectContaining({ who: me, details: { name: 'document-approval', event: 'REJECT' } }),
    );
  });

  it('are shown also where their definition is missing, which orders say', async () => {
    const instance = await start('undefined');
    const configuration = { sandbox: true, queue: { shards: 2, prefix: redis.prefix.slice(-32) } };
    const without = { env: { PARAPH_CONFIG: file('without.json', JSON.stringify(configuration)) } };
    const shown = await paraph(['workflow', 'show', instance, '--json'], without);
    expect(shown.exitCode).toBe(0);
    expect(shown.json()).toMatchObject({
      instance: { instance, name: 'document-approval', status: 'open', state: { open: 'waiting' } },
      isDefined: false,
      mayReplay: false,
    });
    const text = await paraph(['workflow', 'show', instance], without);
    expect(text.stdout).toMatch(/definition +the file in PARAPH_CONFIG has none: name its chart/);
    // A shell without the configuration of the service says nothing about the service.
    expect(undefinedHere({ env: {} }, { place: 'Redis' })).toMatch(
      /^not looked for: PARAPH_CONFIG/,
    );
    expect(undefinedHere({ env: {} }, { place: 'The service' })).toMatch(/^the service has none/);
    for (const order of [
      ['send', instance, 'APPROVE'],
      ['cancel', instance, '--reason', 'x'],
      ['replay', instance],
    ]) {
      const { exitCode, json: read } = await paraph(['workflow', ...order, '--json'], without);
      expect([exitCode, read().refused]).toEqual([7, 'undefined']);
    }
    const unknown = await paraph(['workflow', 'show', `${instance}x`, '--json'], without);
    expect([unknown.exitCode, unknown.json().refused]).toEqual([8, 'unknown-instance']);
    expect((await json(['workflow', 'show', instance])).isDefined).toBe(true);
  });

  it('are cancelled with a reason', async () => {
    const instance = await start('cancelled');
    const cancelled = await as('operator', 'cancel', instance, '--reason', 'Wrong document');
    expect(cancelled.json()).toMatchObject({ outcome: 'ok', result: 'done' });
    expect(await endOf('cancelled')).toMatchObject({
      status: 'cancelled',
      reason: 'Wrong document',
    });
    const again = await as('operator', 'replay', instance);
    expect([again.exitCode, again.json().refused]).toEqual([7, 'not-failed']);
    const { entries } = await json(['audit', '--target', instance, '--action', 'workflow-cancel']);
    expect(entries).toMatchObject([{ who: 'operator', via: 'token', reason: 'Wrong document' }]);
  });

  it('run again after they have failed, once', async () => {
    await call('POST', 'fetching', { apId, body: { id: 'later', input: {} } });
    const ended = () => until('fetching/later', ({ status }) => status !== 'open', apId);
    const first = await ended();
    expect(first).toMatchObject({ status: 'failed', reason: 'not there', state: 'missing' });
    const ls = ['workflow', 'ls', '--status', 'failed', '--ap', apId];
    const {
      workflows: [{ instance, reason }],
      failures,
    } = await json(ls);
    expect(reason).toBe('not there');
    expect(failures).toEqual([
      { name: 'fetching', reason: 'not there', number: 1, mayReplay: true },
    ]);
    expect((await paraph(ls)).stdout).toMatch(
      /^FAILED +WORKFLOW +RUNS AGAIN +REASON\n +1 +fetching +yes +not there\n\nINSTANCE .* REASON\n\S+ +failed .* not there\n$/,
    );
    expect((await as('viewer', 'ls', '--status', 'failed', '--ap', apId)).json().failures).toEqual([
      { name: 'fetching', number: 1, mayReplay: true },
    ]);
    expect(await json(['workflow', 'ls', '--ap', apId])).not.toHaveProperty('failures');
    file('done', '');
    const replayed = await json(['workflow', 'replay', instance, '--reason', 'It is there now']);
    expect(replayed).toMatchObject({ instance, result: 'replayed' });
    expect(await ended()).toMatchObject({ status: 'completed', state: 'found' });
    const again = await paraph(['workflow', 'replay', instance, '--json']);
    expect([again.exitCode, again.json().refused]).toEqual([7, 'not-failed']);
    const { entries } = await json(['audit', '--target', instance, '--action', 'workflow-replay']);
    expect(entries).toMatchObject([
      { details: { outcome: 'not-done' } },
      { who: me },
      { reason: 'It is there now' },
    ]);
  });

  it('are ordered by a filter, after a dry run, and not without either', async () => {
    const ids = [await start('bulk-1'), await start('bulk-2')];
    const filter = ['--name', 'document-approval', '--text', 'bulk-'];
    const { plan } = await json(['workflow', 'cancel', ...filter, '--dry-run']);
    expect(plan).toMatchObject({
      found: 2,
      replayable: 2,
      byWorkflow: { 'document-approval': 2 },
      byAp: { [apId]: 2 },
    });
    expect(plan.first.map(({ instance }: { instance: string }) => instance).sort()).toEqual(
      ids.toSorted(),
    );
    const dry = await paraph(['workflow', 'send', 'NONE', ...filter, '--dry-run']);
    expect(dry.stdout).toMatch(
      /open, found +2\n.*to get the event +0\n(?:.*\n)*? +left out +2: The workflow takes no event with these members\n/,
    );
    for (const args of [
      ['cancel', '--reason', 'x'],
      ['cancel', ...filter, '--yes'],
      ['cancel', ids[0] ?? '', ...filter, '--reason', 'x'],
      ['replay', '--yes', '--reason', 'x'],
      ['send', 'GO', '--reason', 'x'],
      ['send', 'a', 'b', 'c'],
    ])
      expect((await paraph(['workflow', ...args])).exitCode, args.join(' ')).toBe(2);
    expect(
      (await as('viewer', 'cancel', ...filter, '--reason', 'x', '--yes')).json(),
    ).toMatchObject({
      refused: 'forbidden',
    });
    const args = ['workflow', 'cancel', ...filter, '--reason', 'Wrong contract', '--yes'];
    const { bulk, items } = await json(args);
    expect(bulk).toMatchObject({ of: 'workflows', kind: 'cancel', state: 'done', cancelled: 2 });
    expect(items).toContainEqual({ id: ids[0], result: 'cancelled' });
    for (const id of ['bulk-1', 'bulk-2'])
      expect(await endOf(id)).toMatchObject({ status: 'cancelled', reason: 'Wrong contract' });
    expect((await paraph(args)).exitCode).not.toBe(0);
    expect((await json(['replay', '--list'])).bulks[0]).toMatchObject({ of: 'workflows' });
  });

  it.each([['no-such-instance'], ['a:b'], ['12']])(
    'that do not exist end with 8: %s',
    async (id) => {
      for (const args of [
        ['show', id],
        ['cancel', id, '--reason', 'x'],
        ['replay', id],
        ['send', id, 'GO'],
      ]) {
        const { exitCode, json: read } = await paraph(['workflow', ...args, '--json']);
        expect([exitCode, read().refused]).toEqual([8, 'unknown-instance']);
      }
    },
  );

  it('of a process are shown with their people, and leave evidence that verifies with the definition', async () => {
    const definition = {
      text: 'Contract 4711: I agree',
      steps: [
        { name: 'sales', signers: [{ name: 'Anna', msisdn: '+41700092501' }] },
        {
          name: 'board',
          need: 1,
          signers: [
            { name: 'Beat', msisdn: '+41700092502', text: 'Contract 4711: approved' },
            { name: 'Chiara', msisdn: '+41700092507' },
          ],
        },
      ],
    };
    await call('POST', 'process', { apId, body: { id: 'contract', input: definition } });
    const view = await until('process/contract', ({ status }) => status === 'completed', apId);
    const { workflows } = await json(['workflow', 'ls', '--name', 'process', '--ap', apId]);
    for (const [found, ...filter] of [
      [1, '--msisdn', '+41700092507'],
      [0, '--msisdn', '+41700092509'],
      [1, '--text', 'ontrac'],
      [0, '--text', 'process'],
      [1, '--since', '1h'],
      [0, '--since', '2200-01-01T00:00:00Z'],
      [0, '--until', '1h'],
    ] as const) {
      const { workflows: rows } = await json(['workflow', 'ls', '--name', 'process', ...filter]);
      expect([filter, rows.length]).toEqual([filter, found]);
    }
    const { stdout } = await paraph(['workflow', 'show', workflows[0].instance]);
    expect(stdout).toMatch(
      /people +sales: Anna signed\n +board: Beat signed\n +board: Chiara withdrawn\n/,
    );
    expect(stdout).not.toContain(view.output.evidence.slice(0, 40));
    const trusted = file(
      'root.pem',
      await (await fetch(`${stage.product().url}/pki/root.pem`)).text(),
    );
    const record = file('process.json', JSON.stringify(view));
    const contract = file('contract.json', JSON.stringify(definition));
    const verified = await run([
      'evidence',
      'verify',
      record,
      '--service-root',
      trusted,
      '--definition',
      contract,
      '--json',
    ]);
    expect(verified.stderr).toBe('');
    expect(verified.json()).toMatchObject({
      verified: true,
      definition: 'checked',
      evidence: {
        process: { id: 'contract', name: 'process', apId },
        outcome: 'completed',
        signatures: [
          { step: 'sales', name: 'Anna', text: 'Contract 4711: I agree' },
          { step: 'board', name: 'Beat', text: 'Contract 4711: approved' },
        ],
      },
    });
  });

  it('run again when their chart takes every event', async () => {
    await call('POST', 'reopening', { apId, body: { id: 'wild', input: {} } });
    await until('reopening/wild', ({ status }) => status === 'failed', apId);
    const { workflows } = await json(['workflow', 'ls', '--name', 'reopening', '--ap', apId]);
    expect(await json(['workflow', 'replay', workflows[0].instance])).toMatchObject({
      result: 'replayed',
    });
    await until('reopening/wild', ({ status }) => status === 'completed', apId);
  });

  it('do not run again when their chart takes no REPLAY: a process ends once', async () => {
    const input = {
      text: 'I agree',
      steps: [{ name: 'one', signers: [{ name: 'Anna', msisdn: '+41000092401' }] }],
    };
    await call('POST', 'process', { apId, body: { id: 'over', input } });
    const ended = await until('process/over', ({ status }) => status === 'failed', apId);
    const { workflows } = await json([
      'workflow',
      'ls',
      '--name',
      'process',
      '--text',
      'over',
      '--ap',
      apId,
    ]);
    const again = await paraph(['workflow', 'replay', workflows[0].instance, '--json']);
    expect([again.exitCode, again.json().refused]).toEqual([7, 'refused']);
    const shown = await paraph(['workflow', 'show', workflows[0].instance]);
    expect(shown.stdout).toMatch(/run again +It cannot run again: /);
    // One by one and by a filter, the reason is said, and what to do.
    const filter = ['workflow', 'replay', '--name', 'process', '--text', 'over'];
    for (const more of [['--dry-run'], ['--yes', '--reason', 'x']]) {
      const { stdout, stderr } = await paraph([...filter, ...more]);
      expect((stdout + stderr).replaceAll(/\s+/g, ' ')).toMatch(
        /1\D* The chart has ended and takes no REPLAY|1 left out \(The chart has ended and takes no REPLAY/,
      );
    }
    expect((await call('GET', 'process/over', { apId })).body).toEqual(ended);
  });
});
