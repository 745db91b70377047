/**
 * What can be held about the container image and the compose file without a Docker engine: that
 * they parse and that every file, command and variable they name exists.
 */
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
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
  command: z.array(z.string()),
  environment: z.record(z.string(), z.string()).optional(),
  depends_on: z.record(z.string(), z.object({ condition: z.string() })).optional(),
  volumes: z.array(z.string()).optional(),
  stop_grace_period: z
    .string()
    .regex(/^\d+s$/)
    .optional(),
  healthcheck: z.object({ test: z.array(z.string()).optional() }).optional(),
  deploy: z.object({ replicas: z.number() }).optional(),
  read_only: z.literal(true),
  init: z.literal(true),
  cap_drop: z.tuple([z.literal('ALL')]),
  security_opt: z.tuple([z.literal('no-new-privileges:true')]),
});
const composition = z
  .object({
    services: z.object({ api: serviceSchema, worker: serviceSchema, redis: serviceSchema }),
    volumes: z.record(z.string(), z.null()),
  })
  .parse(parse(read('docker-compose.yml'), { merge: true }));
const { api, worker, redis } = composition.services;

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
  expect(worker.deploy?.replicas).toBe(2);
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
  expect(own.value).toEqual({ ...usual.value, http: { ...usual.value.http, lameDuckSeconds } });
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
