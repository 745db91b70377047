/**
 * What runs beside the service, judged by those who read it: the compose file by compose-go, which is
 * in `docker compose`, the alert rules and the configuration of Prometheus by promtool, the JSON
 * Schema of paraph.json by ajv, and the OpenAPI documents by Redocly.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { fetchPackages } from '../../scripts/apt.mjs';
import { startApiStage } from '../console/api-stage.ts';
import { readPage, root } from '../docs/pages.ts';
import { testRedis } from '../support/redis.ts';
import { goJudge } from './go-judge.ts';
import { installIn, npmIn } from './install.ts';

const folder = mkdtempSync(join(tmpdir(), 'paraph-ops-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }), 60_000);
const rules = join(root, 'ops/alerts.yml');

const compose = await goJudge('compose-go', 'github.com/compose-spec/compose-go/v2/cmd', 'v2.16.2');
const promtool = join(folder, 'root/usr/bin/promtool');
const error = await fetchPackages(
  folder,
  async () => ['prometheus'],
  /^prometheus$/,
  () => undefined,
);
if (error !== undefined)
  process.stdout.write(`NOT TRIED: promtool (Debian) cannot be fetched: ${error}\n`);

writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }');
const hasAjv = installIn(folder)('ajv (npm)', [
  'npm',
  ...npmIn(folder),
  '--ignore-scripts',
  'ajv@8.20.0',
  'ajv-formats@3.0.1',
]);

describe.skipIf(!hasAjv)('the JSON Schema of the configuration file', () => {
  it('is one for ajv in its strict mode, and takes and refuses what it should', () => {
    const program = `
import { readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import formats from 'ajv-formats';
const ajv = new Ajv({ strict: true, allErrors: true });
formats.default(ajv);
const read = (path) => JSON.parse(readFileSync(path, 'utf8'));
const [schema, ...files] = process.argv.slice(2);
const validate = ajv.compile(read(schema));
const given = [...files.map(read), { sandboxx: true }, { queue: { shards: 'one' } }];
console.log(JSON.stringify(given.map((each) => validate(each))));`;
    writeFileSync(join(folder, 'judge.mjs'), program);
    const files = ['ops/compose.json', 'examples/workflows/paraph.json'];
    const words = ['docs/configuration.schema.json', ...files].map((path) => join(root, path));
    const judged = execFileSync(process.execPath, ['judge.mjs', ...words], {
      cwd: folder,
      encoding: 'utf8',
    });
    expect(JSON.parse(judged)).toEqual([true, true, false, false]);
  });
});

const redoclyFolder = join(folder, 'redocly');
mkdirSync(redoclyFolder);
const hasRedocly = installIn(redoclyFolder)('Redocly (npm)', [
  'npm',
  ...npmIn(redoclyFolder),
  '--ignore-scripts',
  '@redocly/cli@2.77.0',
]);

describe.skipIf(!hasRedocly)('the OpenAPI document', () => {
  const lint = (file: string) => {
    const { status, stdout, stderr } = spawnSync(
      join(redoclyFolder, 'node_modules/.bin/redocly'),
      ['lint', '--extends', 'recommended', '--format', 'json', file],
      { cwd: redoclyFolder, encoding: 'utf8', env: { ...process.env, REDOCLY_TELEMETRY: 'off' } },
    );
    const { totals, problems } = JSON.parse(
      stdout || `{ "problems": [${JSON.stringify(stderr)}] }`,
    );
    const rules = new Set(problems.map(({ ruleId }: { ruleId: string }) => ruleId));
    return { status, errors: totals?.errors, rules: [...rules] };
  };

  // Its only warning: health, keys and discovery have no request that could be wrong.
  const rules = ['operation-4xx-response'];

  it('of applications has no errors', () => {
    expect(lint(join(root, 'docs/openapi.json'))).toEqual({ status: 0, errors: 0, rules });
  });

  it('of operators has no errors', async () => {
    const stage = await startApiStage(testRedis());
    const { text } = await stage.ask('viewer', 'GET', '/admin/api/openapi.json');
    await stage.close();
    const file = join(folder, 'admin.json');
    writeFileSync(file, text);
    expect(lint(file)).toEqual({ status: 0, errors: 0, rules });
  });

  it('would be told of an error', () => {
    const document = JSON.parse(readPage('docs/openapi.json'));
    delete document.paths['/livez'].get.responses[200].description;
    const file = join(folder, 'wrong.json');
    writeFileSync(file, JSON.stringify(document));
    expect(lint(file).errors).toBeGreaterThan(0);
  });
});

describe.skipIf(compose === undefined)('the compose file', () => {
  const judge = (text: string) => {
    const file = join(folder, 'compose.yml');
    // This program does not look at the environment for a variable that has no default.
    writeFileSync(file, text.replaceAll(/\$\{\w+:\?[^}]*\}/g, 'given'));
    return spawnSync(compose ?? '', ['-format', 'json', file], { cwd: folder, encoding: 'utf8' });
  };
  const text = readPage('docker-compose.yml');

  it('is one for compose-go', () => {
    const { status, stdout, stderr } = judge(text);
    expect([status, stderr]).toEqual([0, '']);
    const { services } = JSON.parse(stdout);
    expect(Object.keys(services)).toEqual(['api', 'grafana', 'prometheus', 'redis', 'worker']);
    expect(services.worker.deploy).toMatchObject({
      replicas: 2,
      resources: { limits: { memory: '1g' } },
    });
  });

  it.each([
    ['cap_drop:', 'cap_dropp:', /cap_dropp/],
    ['memory: 1g', 'memory: [1]', /memory must be a string/],
  ])('would be refused with %s as %s', (from, to, sentence) => {
    const { status, stderr } = judge(text.replace(from, to));
    expect(status).not.toBe(0);
    expect(stderr).toMatch(sentence);
  });
});

describe.skipIf(!existsSync(promtool))('Prometheus', () => {
  const check = (...words: readonly string[]): string =>
    execFileSync(promtool, words, { cwd: folder, encoding: 'utf8' });

  it('reads the rules, and the configuration of the profile monitoring', () => {
    expect(check('check', 'rules', rules)).toContain('SUCCESS');
    const configuration = join(folder, 'prometheus.yml');
    const text = readPage('ops/prometheus.yml');
    writeFileSync(configuration, text.replace('/etc/prometheus/alerts.yml', rules));
    expect(check('check', 'config', configuration)).toContain('SUCCESS');
  });

  it('alerts of a workflow that fails, and of an activity that does', () => {
    const series = (name: string, labels: string, values: string) => ({
      series: `${name}{job="paraph",instance="a",workflow="order",${labels}}`,
      values,
    });
    const alert = (name: string, ended: string, tried: string, labels: object | undefined) => ({
      interval: '1m',
      input_series: [
        series('paraph_workflow_ends_total', 'status="completed"', '0+1x60'),
        series('paraph_workflow_ends_total', 'status="failed"', ended),
        series('paraph_activity_failures_total', 'activity="charge"', tried),
      ],
      alert_rule_test: [
        {
          eval_time: '50m',
          alertname: name,
          exp_alerts: labels === undefined ? [] : [{ exp_labels: labels }],
        },
      ],
    });
    const fails = { severity: 'warning', workflow: 'order' };
    const file = join(folder, 'tests.yml');
    const tests = [
      alert('ParaphWorkflowsFail', '0+1x60', '0x60', fails),
      alert('ParaphWorkflowsFail', '0 0x60', '0x60', undefined),
      alert('ParaphActivitiesFail', '0x60', '0+2x60', { ...fails, activity: 'charge' }),
      alert('ParaphActivitiesFail', '0x60', '0+0x60', undefined),
    ].map((test) => ({
      ...test,
      // The words of an alert are compared, too: those of the rules, filled in.
      alert_rule_test: test.alert_rule_test.map((each) => ({
        ...each,
        exp_alerts: each.exp_alerts.map((expected) => ({
          ...expected,
          exp_annotations: annotations[each.alertname],
        })),
      })),
    }));
    writeFileSync(file, stringify({ rule_files: [rules], evaluation_interval: '1m', tests }));
    expect(check('test', 'rules', file)).toContain('SUCCESS');
  });
});

/** What these alerts say. */
const annotations: Readonly<Record<string, object>> = {
  ParaphWorkflowsFail: {
    summary: '50% of the instances of order fail',
    description: 'The reason is in the console at the instance, and in the log under "trouble".',
  },
  ParaphActivitiesFail: {
    summary: 'The activity charge of order fails again and again',
    description:
      'Its instances wait between the tries, and go on by themselves when it works again. The log says why, under "trouble".',
  },
};
