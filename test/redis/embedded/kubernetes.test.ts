/**
 * What can be held about the manifests without a cluster: that everything they name exists, and
 * that the configuration which comes along is usable. test/packages holds them against the schemas
 * of Kubernetes, test/telemetry their query.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { loadConfiguration } from '../../../src/app/configuration/load.ts';
import { exitCodes } from '../../../src/command-line/exit-codes.ts';
import { environmentSchema } from '../../../src/environment/environment.ts';
import { createHealthRoutes } from '../../../src/http/health.route.ts';

const root = join(import.meta.dirname, '../../..');
const base = join(root, 'deploy/kubernetes/base');
const read = (path: string): string => readFileSync(path, 'utf8');
const folder = mkdtempSync(join(tmpdir(), 'paraph-kubernetes-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const manifests = readdirSync(base)
  .filter((name) => name.endsWith('.yaml') && name !== 'kustomization.yaml')
  .flatMap((name) => parseAllDocuments(read(join(base, name))).map((document) => document.toJS()));
const find = (kind: string, name: string) => {
  const found = manifests.find((each) => each.kind === kind && each.metadata.name === name);
  if (found === undefined) throw new Error(`there is no ${kind} ${name}`);
  return found;
};
const load = (text: string) => {
  const path = join(folder, 'paraph.json');
  writeFileSync(path, text);
  return loadConfiguration(path);
};
const configuration = read(join(base, 'paraph.json'));
const commands = read(join(root, 'docs/operations/kubernetes.md'));

it('applies every file, and the image of this version', () => {
  const { resources, images } = parse(read(join(base, 'kustomization.yaml')));
  expect([...resources, 'kustomization.yaml', 'paraph.json'].toSorted()).toEqual(
    readdirSync(base).toSorted(),
  );
  const { version } = JSON.parse(read(join(root, 'package.json')));
  expect(images).toEqual([{ name: 'paraph', newTag: version }]);
});

it('comes with a configuration that starts nothing before it has a token of its own', async () => {
  expect(await load(configuration)).toMatchObject({
    ok: false,
    problems: [expect.stringMatching(/^operations\.metricsToken/)],
  });
  expect(await load(configuration.replace('METRICS_TOKEN', '0'.repeat(64)))).toMatchObject({
    ok: true,
  });
});

describe('the first start', () => {
  const { spec } = find('Job', 'paraph-first-start');
  const [container] = spec.template.spec.containers;

  it('makes the authority with a directory that outlives it, for which the others wait', () => {
    expect(container.args).toEqual(['authority']);
    expect(container.env.at(-1)).toEqual({ name: 'PARAPH_DATA', value: '/data' });
    const { name } = container.volumeMounts.find(
      ({ mountPath }: { readonly mountPath: string }) => mountPath === '/data',
    );
    const { claimName } = spec.template.spec.volumes.find(
      (volume: { readonly name: string }) => volume.name === name,
    ).persistentVolumeClaim;
    expect(find('PersistentVolumeClaim', claimName).spec.accessModes).toEqual(['ReadWriteOnce']);
    for (const part of ['api', 'worker']) {
      const [other] = find('Deployment', `paraph-${part}`).spec.template.spec.containers;
      expect(other.env).toContainEqual({ name: 'PARAPH_NEW_AUTHORITY', value: 'wait' });
      // What else it is told is the same.
      expect(other.env).toEqual(expect.arrayContaining(container.env.slice(0, -1)));
    }
  });

  it('ends at the exit code of a refusal', () => {
    const [{ onExitCodes }] = spec.podFailurePolicy.rules;
    expect(onExitCodes.values).toEqual([exitCodes.refused.code]);
    expect(onExitCodes.containerName).toBe(container.name);
  });
});

describe.each(['api', 'worker'])('the deployment of %s', (part) => {
  const { spec } = find('Deployment', `paraph-${part}`).spec.template;
  const [container] = spec.containers;

  it('runs that command with variables that the program reads, and secrets that the document makes', () => {
    expect(container.args).toEqual([part]);
    const known = [...Object.keys(environmentSchema.shape), 'REDIS_PASSWORD'];
    for (const { name, valueFrom } of container.env) {
      expect(known).toContain(name);
      if (valueFrom !== undefined)
        expect(commands).toContain(`--from-literal=${valueFrom.secretKeyRef.key}=`);
    }
    expect(commands).toContain(`--from-literal=${spec.volumes[0].secret.items[0].key}=`);
  });

  it('asks for health where it is told, and has the time to leave', async () => {
    const loaded = await load(configuration.replace('METRICS_TOKEN', '0'.repeat(64)));
    if (!loaded.ok) throw new Error('The configuration is not usable');
    const { http, operations } = loaded.value;
    const port =
      part === 'api' ? Number(environmentSchema.parse({}).PORT) : operations.workerMetricsPort;
    expect(container.ports).toEqual([expect.objectContaining({ containerPort: port })]);
    const { startupProbe, readinessProbe, livenessProbe } = container;
    for (const { httpGet } of [startupProbe, readinessProbe, livenessProbe]) {
      expect(httpGet.port).toBe(container.ports[0].name);
      expect((await createHealthRoutes([]).request(httpGet.path)).status).toBe(200);
    }
    // A start waits for a Redis that loads its file.
    expect(startupProbe.periodSeconds * startupProbe.failureThreshold).toBeGreaterThanOrEqual(600);
    expect(spec.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(
      http.lameDuckSeconds + http.drainSeconds + 15,
    );
  });

  it('is what its disruption budget and its service select', () => {
    const { labels } = find('Deployment', `paraph-${part}`).spec.template.metadata;
    expect(find('PodDisruptionBudget', `paraph-${part}`).spec.selector.matchLabels).toEqual(labels);
    if (part === 'api') expect(find('Service', 'paraph-api').spec.selector).toEqual(labels);
  });
});

it('has the Redis of docker-compose.yml, with a password', () => {
  const { args } = find('StatefulSet', 'paraph-redis').spec.template.spec.containers[0];
  const { command } = parse(read(join(root, 'docker-compose.yml')), { merge: true }).services.redis;
  expect(args.slice(0, command.length)).toEqual(command);
  expect(args.slice(command.length)).toEqual(['--requirepass', '$(REDIS_PASSWORD)']);
  const [, host] =
    /@([^:]+):/.exec(
      find('Deployment', 'paraph-api').spec.template.spec.containers[0].env[1].value,
    ) ?? [];
  expect(find('Service', host ?? '').spec).toMatchObject({
    selector: find('StatefulSet', 'paraph-redis').spec.template.metadata.labels,
    // Or the name does not resolve while Redis loads its file, and nothing waits for it.
    publishNotReadyAddresses: true,
  });
});
