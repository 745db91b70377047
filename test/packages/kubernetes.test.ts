/**
 * The manifests of deploy/kubernetes against the schemas of Kubernetes, KEDA and the Prometheus
 * operator.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { run } from '../support/command.ts';
import { checkModels, type Manifest, modelPackages } from '../support/kubernetes-models.ts';

const root = join(import.meta.dirname, '../..');
const folder = mkdtempSync(join(tmpdir(), 'paraph-manifests-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }), 60_000);

const manifests = ['base', 'autoscaling'].flatMap((name) => {
  const path = join(root, 'deploy/kubernetes', name);
  return readdirSync(path)
    .filter((file) => file.endsWith('.yaml') && file !== 'kustomization.yaml')
    .flatMap((file) => parseAllDocuments(readFileSync(join(path, file), 'utf8'), { merge: true }))
    .map((document) => document.toJS());
});

const check = (given: readonly Manifest[]) => checkModels(folder, given);

beforeAll(() => {
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }');
  const flags = ['--prefer-offline', '--ignore-scripts', '--no-audit', '--no-fund'];
  run(folder, ['npm', 'install', ...flags, ...modelPackages]);
}, 120_000);

it('fits the schemas', () => {
  expect(manifests.map(({ kind }) => kind).toSorted()).toEqual([
    'Deployment',
    'Deployment',
    'Job',
    'PersistentVolumeClaim',
    'PodDisruptionBudget',
    'PodDisruptionBudget',
    'PodMonitor',
    'ScaledObject',
    'Service',
    'Service',
    'StatefulSet',
  ]);
  expect(check(manifests)).toEqual(['', '']);
}, 60_000);

it('would be told of a wrong name and of a wrong value', () => {
  const [deployment] = manifests.filter(({ kind }) => kind === 'Deployment');
  const changed = (from: string, to: string) =>
    JSON.parse(JSON.stringify(deployment).replace(from, to));
  const [types] = check([changed('"readinessProbe"', '"readynessProbe"')]);
  expect(types).toContain(`'"readynessProbe"' does not exist`);
  const [, said] = check([changed('"replicas":2', '"replicas":"two"')]);
  expect(said).toContain('data/spec/replicas must be integer');
}, 60_000);
