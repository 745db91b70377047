/**
 * What can be held about the container image and the compose file without a Docker engine: that
 * they parse and that every file, command and variable they name exists.
 */
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { loadConfiguration } from '../../../src/app/configuration/load.ts';
import { runCli } from '../../../src/cli/cli.ts';
import { environmentSchema } from '../../../src/environment/environment.ts';

const project = fileURLToPath(new URL('../../..', import.meta.url));
const read = (name: string) => readFileSync(`${project}/${name}`, 'utf8');

const serviceSchema = z.object({
  image: z.string(),
  build: z.string().optional(),
  command: z.array(z.string()).default([]),
  profiles: z.array(z.string()).optional(),
  environment: z.record(z.string(), z.string()).optional(),
  ports: z.array(z.string()).optional(),
  depends_on: z.record(z.string(), z.object({ condition: z.string() })).optional(),
  volumes: z.array(z.string()).optional(),
  stop_grace_period: z
    .string()
    .regex(/^\d+s$/)
    .optional(),
  healthcheck: z.object({ test: z.array(z.string()).optional() }).optional(),
  deploy: z.object({
    replicas: z.number().optional(),
    resources: z.object({
      limits: z.object({
        cpus: z.string().regex(/^\d+(\.\d+)?$/),
        memory: z.string().regex(/^\d+[mg]$/),
      }),
    }),
  }),
  read_only: z.literal(true),
  init: z.literal(true),
  cap_drop: z.tuple([z.literal('ALL')]),
  security_opt: z.tuple([z.literal('no-new-privileges:true')]),
});
const composition = z
  .object({
    services: z.strictObject({
      api: serviceSchema,
      worker: serviceSchema,
      redis: serviceSchema,
      prometheus: serviceSchema,
      grafana: serviceSchema,
    }),
    volumes: z.record(z.string(), z.null()),
  })
  .parse(parse(read('docker-compose.yml'), { merge: true }));
const { api, worker, redis, prometheus, grafana } = composition.services;

/** Instructions with continued lines joined; arguments in the exec form are parsed. */
const instructions = read('Dockerfile')
  .replaceAll('\\\n', ' ')
  .split('\n')
  .flatMap((line) => {
    const match = /^([A-Z]+)\s+(.*)$/.exec(line);
    return match?.[1] && match[2] ? [{ name: match[1], rest: match[2] }] : [];
  });
const lastOf = (name: string) =>
  instructions.findLast((instruction) => instruction.name === name)?.rest ?? '';

it('runs the API and two workers from one image, which differ only in their command', () => {
  expect(worker.image).toBe(api.image);
  expect([api.command, worker.command]).toEqual([['api'], ['worker']]);
  expect(worker.deploy.replicas).toBe(2);
  expect(worker.deploy.resources).toEqual(api.deploy.resources);
  expect(worker.environment?.PARAPH_MASTER_KEY).toBe(api.environment?.PARAPH_MASTER_KEY);
  expect(existsSync(`${project}/${api.build}/Dockerfile`)).toBe(true);
});

it('keeps what it knows of the master key where the image looks for it', () => {
  for (const service of [api, worker]) expect(service.volumes).toContain('paraph-data:/data');
  expect(composition.volumes).toHaveProperty('paraph-data');
  expect(lastOf('ENV')).toContain('PARAPH_DATA=/data');
});

it('gives processes the time to leave that the configuration which comes along says', async () => {
  const [mounted] =
    api.volumes?.filter((volume) => volume.endsWith(':/etc/paraph/paraph.json:ro')) ?? [];
  expect(api.environment?.PARAPH_CONFIG).toMatch(/:-\/etc\/paraph\/paraph\.json\}$/);
  const [file = ''] = mounted?.split(':') ?? [];
  const [own, usual] = [
    await loadConfiguration(`${project}/${file}`),
    await loadConfiguration(undefined),
  ];
  if (!own.ok || !usual.ok) throw new Error('The configuration is not usable');
  const { lameDuckSeconds, drainSeconds } = own.value.http;
  expect(lameDuckSeconds).toBeGreaterThan(0);
  const { metricsOpen, workerMetricsPort } = own.value.operations;
  expect(own.value).toEqual({
    ...usual.value,
    http: { ...usual.value.http, lameDuckSeconds },
    operations: { ...usual.value.operations, metricsOpen, workerMetricsPort },
  });
  for (const { stop_grace_period: grace = '' } of [api, worker]) {
    expect(Number.parseInt(grace, 10)).toBeGreaterThanOrEqual(lameDuckSeconds + drainSeconds + 15);
  }
});

it('demands a master key', () => {
  expect(api.environment?.PARAPH_MASTER_KEY).toMatch(/^\$\{PARAPH_MASTER_KEY:\?/);
});

it('sets only variables that the program reads', () => {
  const known = Object.keys(environmentSchema.shape);
  const set = Object.keys({ ...api.environment, ...worker.environment });
  expect(set.filter((name) => !known.includes(name))).toEqual([]);
});

it('waits for a healthy Redis that forgets nothing, and uses that one', () => {
  for (const service of [api, worker]) {
    expect(service.depends_on).toEqual({ redis: { condition: 'service_healthy' } });
    expect(service.environment?.REDIS_URL).toBe('redis://redis:6379');
  }
  expect(redis.healthcheck?.test?.[0]).toBe('CMD-SHELL');
  const settings = redis.command.join(' ');
  expect(settings).toContain('--appendonly yes');
  // What docs/reliability.md promises, it promises for this setting.
  expect(settings).toContain('--appendfsync always');
  expect(settings).toContain('--maxmemory-policy noeviction');
});

it('copies into the image only what exists and what the build context lets through', () => {
  const ignored = read('.dockerignore').split('\n');
  const copied = instructions
    .filter(({ name, rest }) => name === 'COPY' && !rest.startsWith('--from'))
    .flatMap(({ rest }) => rest.split(/\s+/).slice(0, -1))
    .map((path) => path.replace(/^\.\//, ''));
  expect(copied).toContain('src');
  for (const path of copied) {
    expect(existsSync(`${project}/${path}`), path).toBe(true);
    expect(ignored).toContain(`!${path}`);
  }
  expect(ignored).toContain('*');
});

it('runs as an unprivileged user and asks /livez for its health', () => {
  expect(lastOf('USER')).toBe('node');
  const command: unknown = JSON.parse(lastOf('HEALTHCHECK').replace(/^.*?CMD /, ''));
  expect(command).toEqual(['node', '-e', expect.stringContaining('/livez')]);
  expect(read('src/http/health.route.ts')).toContain("'/livez'");
});

it('starts commands that the CLI has', async () => {
  expect(JSON.parse(lastOf('ENTRYPOINT'))).toEqual(['node', 'dist/src/cli/paraph.js']);
  expect(existsSync(`${project}/src/cli/paraph.ts`)).toBe(true);
  let help = '';
  const stdout = { write: (text: string) => (help += text) };
  await runCli(['--help'], { stdout, stderr: stdout, stdin: process.stdin, env: {} });
  const defaultCommand = z.array(z.string()).parse(JSON.parse(lastOf('CMD')));
  for (const [command] of [api.command, worker.command, defaultCommand]) {
    expect(help).toMatch(new RegExp(`^\\s+${command}\\b`, 'm'));
  }
});

it('gives Redis a bound below that of its container', () => {
  const [, megabytes] = /--maxmemory (\d+)mb/.exec(redis.command.join(' ')) ?? [];
  const [, gigabytes] = /^(\d+)g$/.exec(redis.deploy.resources.limits.memory) ?? [];
  expect(Number(megabytes)).toBeLessThanOrEqual((Number(gigabytes) * 1024 * 2) / 3);
});

describe('the profile monitoring', () => {
  /** What is mounted where. */
  const mountsOf = ({ volumes = [] }: { readonly volumes?: readonly string[] | undefined }) =>
    new Map(volumes.map((volume) => volume.split(':')).map(([from = '', to = '']) => [to, from]));
  const inPrometheus = mountsOf(prometheus);
  const inGrafana = mountsOf(grafana);
  const scraping = parse(read('ops/prometheus.yml'));

  it('starts only when it is asked for, with files that exist and volumes that are declared', () => {
    for (const { profiles } of [prometheus, grafana]) expect(profiles).toEqual(['monitoring']);
    for (const { profiles } of [api, worker, redis]) expect(profiles).toBeUndefined();
    for (const from of [...inPrometheus.values(), ...inGrafana.values()]) {
      if (from.startsWith('./')) expect(existsSync(`${project}/${from}`), from).toBe(true);
      else expect(composition.volumes).toHaveProperty(from);
    }
  });

  it('scrapes every process where it tells its metrics, under the name that the rules expect', async () => {
    const own = await loadConfiguration(`${project}/ops/compose.json`);
    if (!own.ok) throw new Error('The configuration is not usable');
    expect(own.value.operations.metricsOpen).toBe(true);
    const [job, ...others] = scraping.scrape_configs;
    expect(others).toEqual([]);
    expect(job.job_name).toBe('paraph');
    expect(job.dns_sd_configs).toMatchObject([
      { names: ['api'], type: 'A', port: Number(api.environment?.PORT) },
      { names: ['worker'], type: 'A', port: own.value.operations.workerMetricsPort },
    ]);
  });

  it('has the rules of ops/alerts.yml', () => {
    const [rules] = scraping.rule_files;
    expect(inPrometheus.get(rules)).toBe('./ops/alerts.yml');
    const [, file] = /--config\.file=(\S+)/.exec(prometheus.command.join(' ')) ?? [];
    expect(inPrometheus.get(file ?? '')).toBe('./ops/prometheus.yml');
  });

  it('provisions the dashboard, which asks that Prometheus', () => {
    const [source] = parse(read('ops/grafana/datasources.yml')).datasources;
    expect(source).toMatchObject({
      type: 'prometheus',
      url: 'http://prometheus:9090',
      isDefault: true,
      jsonData: { timeInterval: scraping.global.scrape_interval },
    });
    const [provider] = parse(read('ops/grafana/dashboards.yml')).providers;
    const path = `${provider.options.path}/paraph.json`;
    expect(inGrafana.get(path)).toBe('./ops/grafana-dashboard.json');
    expect(grafana.environment?.GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH).toBe(path);
    for (const name of ['datasources', 'dashboards'])
      expect(inGrafana.get(`/etc/grafana/provisioning/${name}/paraph.yml`)).toBe(
        `./ops/grafana/${name}.yml`,
      );
  });

  it('has no user with a known password', () => {
    expect(grafana.environment).toMatchObject({
      GF_AUTH_ANONYMOUS_ORG_ROLE: 'Viewer',
      GF_AUTH_BASIC_ENABLED: 'false',
      GF_AUTH_DISABLE_LOGIN_FORM: 'true',
      GF_SECURITY_DISABLE_INITIAL_ADMIN_CREATION: 'true',
    });
  });
});
