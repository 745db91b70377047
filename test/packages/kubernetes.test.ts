/**
 * The manifests of deploy/kubernetes against the schemas of Kubernetes, KEDA and the Prometheus
 * operator. The compiler finds names that the types do not know, which the schemas let through.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { compile, run } from '../support/command.ts';

const root = join(import.meta.dirname, '../..');
const folder = mkdtempSync(join(tmpdir(), 'paraph-manifests-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }), 60_000);

const schemas = ['kubernetes-models@5.1.0', '@kubernetes-models/keda@2.0.0'];
const ofOperator = '@kubernetes-models/prometheus-operator@6.0.0';
const libraries: Readonly<Record<string, string>> = {
  'keda.sh': '@kubernetes-models/keda/',
  'monitoring.coreos.com': '@kubernetes-models/prometheus-operator/',
};

const manifests = ['base', 'autoscaling'].flatMap((name) => {
  const path = join(root, 'deploy/kubernetes', name);
  return readdirSync(path)
    .filter((file) => file.endsWith('.yaml') && file !== 'kustomization.yaml')
    .flatMap((file) => parseAllDocuments(readFileSync(join(path, file), 'utf8'), { merge: true }))
    .map((document) => document.toJS());
});

const errorsOf = (say: () => string): string => {
  try {
    return say();
  } catch (error) {
    return String(error);
  }
};
/** @returns What the compiler says, and then each schema. */
const check = (given: readonly { readonly apiVersion: string; readonly kind: string }[]) => {
  const lines = given.map(({ apiVersion, kind, ...manifest }, at) => {
    const library = libraries[apiVersion.split('/')[0] ?? ''] ?? 'kubernetes-models/';
    return `import { ${kind} as Kind${at} } from '${library}${apiVersion}/${kind}';
try { new Kind${at}(${JSON.stringify(manifest)}).validate(); }
catch (error) { console.log('${kind}:', (error as Error).message); }`;
  });
  writeFileSync(join(folder, 'check.ts'), lines.join('\n'));
  return [
    errorsOf(() => compile(folder, '.')),
    errorsOf(() => run(folder, [process.execPath, 'check.js'])),
  ];
};

beforeAll(() => {
  const options = { module: 'nodenext', target: 'es2023', strict: true, skipLibCheck: true };
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }');
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({
      compilerOptions: {
        ...options,
        types: ['node'],
        typeRoots: [join(root, 'node_modules/@types')],
      },
    }),
  );
  const flags = ['--prefer-offline', '--ignore-scripts', '--no-audit', '--no-fund'];
  run(folder, ['npm', 'install', ...flags, ...schemas, ofOperator]);
}, 120_000);

it('fits the schemas', () => {
  expect(manifests.map(({ kind }) => kind).toSorted()).toEqual([
    'Deployment',
    'Deployment',
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
