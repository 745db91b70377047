import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { run } from '../../../test/cli/terminal.ts';
import { testRedis } from '../../../test/support/redis.ts';

const redis = testRedis();
const root = join(import.meta.dirname, '../../..');
const approval = join(root, 'examples/workflows/document-approval.workflow.mjs');
const folder = mkdtempSync(join(tmpdir(), 'paraph-cli-workflow-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const file = (name: string, text: string): string => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};
const json = (name: string, value: unknown): string => file(name, JSON.stringify(value));
const library = join(root, 'dist/parts/workflows/charts/index.js');
const xstate = import.meta.resolve('xstate');

/** A module with one chart. @param config Of createMachine, as source. */
const chartFile = (name: string, config: string, setup = '{}'): string =>
  file(
    `${name}.mjs`,
    `import { activity, defineWorkflow, later } from ${JSON.stringify(library)};
import { fromCallback, setup } from ${JSON.stringify(xstate)};
const chart = setup(${setup}).createMachine(${config});
export default defineWorkflow({ name: '${name}', version: 1, chart });`,
  );

const check = (path: string, ...more: readonly string[]) =>
  run(['workflow', 'check', path, ...more]);
const test = (path: string, ...more: readonly string[]) =>
  run(['workflow', 'test', path, ...more], { env: { REDIS_URL: redis.url } });

describe('paraph workflow check', () => {
  it('names the file and the line of a syntax error, also in a file that it imports', () => {
    // Node itself reads the files here; under vitest another program does, with other words.
    const checked = (path: string) => {
      const { status, stderr } = spawnSync(
        process.execPath,
        [join(root, 'dist/src/cli/paraph.js'), 'workflow', 'check', path],
        { encoding: 'utf8' },
      );
      return [status, stderr];
    };
    const comma = file(
      'comma.mjs',
      "const chart = {\n  initial: 'open',,\n};\nexport default chart;",
    );
    const said = [2, `paraph: ${comma}, line 2: Unexpected token ','\n`];
    expect(checked(comma)).toEqual(said);
    expect(checked(file('imports.mjs', "export { default } from './comma.mjs';"))).toEqual(said);
    const cut = file('cut.mjs', 'export const chart = {\n');
    expect(checked(cut)).toEqual([2, `paraph: ${cut}, line 2: Unexpected end of input\n`]);
    const old = file('old.cjs', 'exports.chart = {\n  a: 1,,\n};');
    expect(checked(old)).toEqual([2, `paraph: ${old}, line 2: Unexpected token ','\n`]);
  });

  it('says what a chart can do, and draws it', async () => {
    const { exitCode, stdout, stderr } = await check(approval);
    expect(stderr).toBe('');
    expect(exitCode).toBe(0);
    expect(stdout).toBe(
      [
        'document-approval, version 1',
        '  states      7',
        '  events      REJECT, APPROVE, REPLAY',
        '  activities  sign (of the service: service.sign)',
        '              file (5 tries, each 10 seconds at most)',
        '  timers      after week, after day',
        '  effects     remind',
        '',
        '  open  (initial)',
        '      REJECT → rejected / noteReason',
        '      after week → rejected / noteReason',
        '      waiting  (initial)',
        '          APPROVE → signing',
        '          after day → waiting / countReminder, remind',
        '      signing',
        '          invokes sign',
        '          done of sign [isSigned] → filing / noteSignature',
        '          done of sign → waiting / noteReason',
        '  filing',
        '      invokes file',
        '      done of file → filed',
        '      error of file → unfiled',
        '  filed  (final)',
        '  rejected  (final)',
        '  unfiled  (job failed)',
        '      REPLAY → filing',
        '',
      ].join('\n'),
    );
  });

  it('draws parallel and nested states for Mermaid', async () => {
    const path = chartFile(
      'parallel',
      `{ type: 'parallel', states: {
        mail: { initial: 'off', states: { off: { on: { MAIL: 'on' } }, on: { type: 'final' } } },
        desk: { initial: 'no', states: { no: { after: { 3600000: 'yes' } }, yes: { type: 'final' } } } } }`,
    );
    const { stdout } = await check(path, '--mermaid');
    expect(stdout).toBe(
      [
        'stateDiagram-v2',
        '  state "mail" as mail {',
        '    [*] --> mail_off',
        '    state "off" as mail_off',
        '    state "on" as mail_on',
        '    mail_on --> [*]',
        '  }',
        '  --',
        '  state "desk" as desk {',
        '    [*] --> desk_no',
        '    state "no" as desk_no',
        '    state "yes" as desk_yes',
        '    desk_yes --> [*]',
        '  }',
        '  mail_off --> mail_on: MAIL',
        '  desk_no --> desk_yes: after 1 hour',
        '',
      ].join('\n'),
    );
  });

  it.each([
    [
      'an actor that lives in memory',
      () => chartFile('memory', '{}', '{ actors: { listen: fromCallback(() => {}) } }'),
      'memory: the actor listen lives in memory alone; an activity or a chart is needed',
    ],
    [
      'a function in its context',
      () => chartFile('closure', '{ context: { call: () => 1 } }'),
      'closure: context.call: a function cannot be stored',
    ],
    [
      'a name of the service',
      () => chartFile('mail', '{}'),
      'mail: the service has a workflow of this name',
    ],
    [
      'no workflow',
      () => file('empty.mjs', 'export default 1;'),
      'the file exports no workflow (defineWorkflow of paraph/workflow)',
    ],
    ['no file', () => join(folder, 'absent.mjs'), 'There is no such file.'],
  ])('ends with 2 and names the place: %s', async (_, path, sentence) => {
    const { exitCode, stdout, stderr } = await check(path());
    expect(stderr).toBe(`paraph: ${sentence}\n`);
    expect(stdout).toBe('');
    expect(exitCode).toBe(2);
  });
});

describe('paraph workflow test', () => {
  // What the chart prints is not of the command.
  beforeAll(() => void vi.spyOn(console, 'log').mockImplementation(() => undefined));
  afterAll(() => void vi.restoreAllMocks());
  const input = { document: 'A-17', approver: '+41700092501' };

  it('runs days in a moment, and shows what happened', async () => {
    const events = json('events.json', {
      input,
      events: [{ after: 'P2DT1H', send: { type: 'APPROVE' } }],
      answers: { file: [{ error: 'The archive is away' }] },
    });
    const { exitCode, stdout, stderr } = await test(approval, '--events', events);
    expect(stderr).toBe('');
    expect(exitCode).toBe(0);
    // The time that the machine takes, and what comes from outside, are not the same each time.
    const told = stdout
      .replaceAll(/(\d\d:\d\d):\d\d\.\d{3} /g, '$1 ')
      .replaceAll(/"(at|msspTransId|receipt)":("[^"]*"|\d+)/g, '"$1":…');
    expect(told.split('\n').slice(0, -2)).toEqual([
      '     00:00  state    {"open":"waiting"}',
      '  1d 00:00  effect   remind ',
      '  2d 00:00  effect   remind ',
      '  2d 01:00  event    APPROVE: taken',
      '  2d 01:00  begins   sign {"msisdn":"+41700092501","text":"Document A-17: I approve"}',
      '  2d 01:00  answer   sign {"kind":"signed","msspTransId":…,"at":…,"attempt":1}',
      '  2d 01:00  begins   file "A-17"',
      '  2d 01:00  error    file: The archive is away',
      '  2d 01:00  state    "filing"',
      '  2d 01:00  begins   file "A-17"',
      '  2d 01:00  answer   file {"document":"A-17","receipt":…}',
      '  2d 01:00  state    "filed"',
      '',
      'It has completed: {"document":"A-17","reminders":2,"msspTransId":…}',
    ]);
    const [first = 0, second = 0] = [
      ...stdout.matchAll(/:(\d\d):(\d\d)\.(\d{3}) +begins +file/g),
    ].map(
      ([, minutes, seconds, ms]) => Number(minutes) * 60_000 + Number(seconds) * 1000 + Number(ms),
    );
    expect(second - first).toBeGreaterThanOrEqual(1000);
  });

  it('lets the deadline pass when nothing comes', async () => {
    const { exitCode, json: read } = await test(
      approval,
      '--input',
      json('input.json', input),
      '--json',
    );
    expect(exitCode).toBe(0);
    const { how, output, lastedMs } = read();
    expect({ how, output }).toEqual({
      how: 'ended',
      output: { document: 'A-17', reminders: 6, reason: 'TOO_LATE' },
    });
    expect(Math.round(lastedMs / 3_600_000)).toBe(7 * 24);
  });

  it('gives the answers of the file in the place of activities, and shows why an instance fails', async () => {
    const error = { error: 'The archive is away' };
    const events = json('fails.json', {
      input,
      events: [{ send: { type: 'APPROVE' } }, { send: { type: 'APPROVE' } }],
      answers: {
        sign: [{ output: { kind: 'failed', code: 401, reason: 'USER_CANCEL', detail: '' } }],
        file: [error, error, error, error, error],
      },
    });
    const { exitCode, json: read } = await test(approval, '--events', events, '--json');
    expect(exitCode).toBe(0);
    expect(read()).toMatchObject({
      ended: 'failed',
      failedReason: 'The document could not be filed',
      state: 'unfiled',
    });
  });

  it('waits for an answer that comes later until the file brings it, and says so when it does not', async () => {
    const path = chartFile(
      'late',
      `{ initial: 'asking', context: {}, states: { asking: { invoke: { src: 'ask', onDone: 'told' } }, told: { type: 'final' } } }`,
      '{ actors: { ask: activity(async () => later) } }',
    );
    const brought = json('brought.json', { events: [{ after: 'PT5M', answer: 'ask', output: 7 }] });
    expect((await test(path, '--events', brought)).stdout).toMatch(
      /event {4}answer of ask: taken\n.*state {4}"told"/,
    );
    const { exitCode, stdout } = await test(path);
    expect(exitCode).toBe(6);
    expect(stdout).toContain('It waits in "asking" for an event or an answer.');
  });

  it.each([
    [
      'input',
      { input: { ...input, document: 'secret-'.repeat(20) } },
      'The workflow does not take this input: document: Too big: expected string to have <=60 characters (--input, or input in --events).',
    ],
    [
      'events',
      { events: [{ after: 'soon', send: { type: 'APPROVE' } }] },
      'The file that --events names is not as docs/cli.md says: events[0].after.',
    ],
    [
      'answers',
      { input, answers: { archive: [] } },
      'answers.archive: the chart has no activity of this name.',
    ],
  ])('ends with 2 and names the place in wrong %s', async (name, value, sentence) => {
    const { exitCode, stderr } = await test(
      approval,
      '--events',
      json(`${name}-wrong.json`, value),
    );
    expect(stderr).toBe(`paraph: ${sentence}\n`);
    expect(exitCode).toBe(2);
  });
});
