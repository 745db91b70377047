/**
 * The Helm chart, judged by Helm, and what it renders by kubeconform, with the schemas of Kubernetes
 * that kubernetes-validate (PyPI) brings. Kinds of KEDA, the Gateway API and the Prometheus operator
 * are judged by their models (npm): no registry has their schemas as JSON.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { parseAllDocuments, stringify } from 'yaml';
import { root } from '../docs/pages.ts';
import { checkModels, modelPackages } from '../support/kubernetes-models.ts';
import { goJudge } from './go-judge.ts';
import { installIn, npmIn } from './install.ts';

const chart = join(root, 'deploy/helm/paraph');
const folder = mkdtempSync(join(tmpdir(), 'paraph-helm-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }), 60_000);

const helm = await goJudge('helm', 'helm.sh/helm/v4/cmd/helm', 'v4.3.1');
const kubeconform = await goJudge(
  'kubeconform',
  'github.com/yannh/kubeconform/cmd/kubeconform',
  'v0.8.0',
);
writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }');
const install = installIn(folder);
const python = ['python3', '-m', 'pip', 'install', '--quiet', '--retries=1', '--no-deps'] as const;
const hasSchemas = install('kubernetes-validate (PyPI)', [
  ...python,
  '--disable-pip-version-check',
  '--target=schemas',
  'kubernetes-validate==1.37.0',
]);
const hasModels = install('kubernetes-models (npm)', [
  'npm',
  ...npmIn(folder),
  '--ignore-scripts',
  ...modelPackages,
]);

interface Rendered {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly labels: Readonly<Record<string, string>>;
  };
  // biome-ignore lint/suspicious/noExplicitAny: what a template has rendered is read as it comes
  readonly spec: any;
}

const runHelm = (...words: readonly string[]) =>
  spawnSync(helm ?? '', words, { cwd: folder, encoding: 'utf8' });

const render = (name: string, values: object = {}): string => {
  const file = join(folder, `${name}-values.yaml`);
  writeFileSync(file, stringify(values));
  const words = ['template', 'sign', chart, '--namespace', 'paraph', '--values', file];
  const { status, stdout, stderr } = runHelm(...words);
  if (status !== 0) throw new Error(stderr);
  return stdout;
};
const objectsIn = (text: string): readonly Rendered[] =>
  parseAllDocuments(text)
    .map((document) => document.toJS())
    .filter((each) => each !== null);
const named = (objects: readonly Rendered[], kind: string, name: RegExp): Rendered => {
  const found = objects.find((each) => each.kind === kind && name.test(each.metadata.name));
  if (found === undefined) throw new Error(`there is no ${kind} ${name}`);
  return found;
};

const everything = {
  image: { repository: 'registry.example.com/paraph', tag: '9.9.9', pullSecrets: ['registry'] },
  env: [{ name: 'PARAPH_LOG_LEVEL', value: 'debug' }],
  volumes: [{ name: 'charts', configMap: { name: 'paraph-charts' } }],
  volumeMounts: [{ name: 'charts', mountPath: '/etc/charts', readOnly: true }],
  api: { autoscaling: { enabled: true }, podAnnotations: { a: 'b' }, nodeSelector: { c: 'd' } },
  worker: {
    autoscaling: { enabled: true },
    tolerations: [{ key: 'spot', operator: 'Exists' }],
    affinity: { podAntiAffinity: {} },
  },
  service: { annotations: { e: 'f' } },
  ingress: { enabled: true, className: 'nginx', annotations: { g: 'h' }, tlsSecret: 'sign-tls' },
  httpRoute: { enabled: true },
  networkPolicy: {
    apiFrom: [{ namespaceSelector: { matchLabels: { i: 'j' } } }],
    metricsFrom: [{ namespaceSelector: {} }],
    egress: [{ ports: [{ port: 443 }] }],
  },
  podMonitor: { enabled: true, labels: { release: 'prometheus' }, interval: '15s' },
};
const managed = {
  redis: { enabled: false },
  firstStart: { enabled: false },
  networkPolicy: { enabled: false },
  api: { podDisruptionBudget: { minAvailable: null, maxUnavailable: 1 } },
  spreadOver: [],
};

/** What no other chart of a cluster may be without. */
const standard = [
  'NetworkPolicy',
  'NetworkPolicy',
  'NetworkPolicy',
  'NetworkPolicy',
  'PersistentVolumeClaim',
  'Deployment',
  'Deployment',
  'Job',
  'PodDisruptionBudget',
  'PodDisruptionBudget',
  'Service',
  'Service',
  'StatefulSet',
];
const variants = [
  ['the default values', {}, standard],
  [
    'everything switched on',
    everything,
    [...standard, 'HorizontalPodAutoscaler', 'HTTPRoute', 'Ingress', 'PodMonitor', 'ScaledObject'],
  ],
  [
    'a Redis of one’s own',
    managed,
    ['Deployment', 'Deployment', 'PodDisruptionBudget', 'PodDisruptionBudget', 'Service'],
  ],
] as const;

const custom = ['ScaledObject', 'HTTPRoute', 'PodMonitor'];

/**
 * The schemas, each with the definitions that it refers to: kubeconform cannot follow the addresses
 * from the root of a server that those of the package have.
 */
const writeSchemas = (kinds: readonly string[]): string => {
  const from = join(
    folder,
    'schemas/kubernetes_validate/kubernetes-json-schema/v1.37.0-local-strict',
  );
  const to = join(folder, 'strict');
  mkdirSync(to);
  const ownRefs = (text: string): string =>
    text.replaceAll(/"(?:\/api\/_definitions\.json)?#\/\$defs\//g, '"#/definitions/');
  const { $defs: definitions } = JSON.parse(
    ownRefs(readFileSync(join(from, '_definitions.json'), 'utf8')),
  );
  for (const file of readdirSync(from)) {
    if (!kinds.includes(file.split('-')[0] ?? '')) continue;
    const schema = JSON.parse(ownRefs(readFileSync(join(from, file), 'utf8')));
    writeFileSync(join(to, file), JSON.stringify({ ...schema, definitions }));
  }
  return to;
};
let schemas = '';
const conform = (text: string) => {
  schemas ||= writeSchemas(
    variants.flatMap(([, , kinds]) => kinds.map((kind) => kind.toLowerCase())),
  );
  const { stdout } = spawnSync(
    kubeconform ?? '',
    [
      '-strict',
      '-output=json',
      '-summary',
      `-skip=${custom.join(',')}`,
      `-schema-location=${schemas}/{{.ResourceKind}}{{.KindSuffix}}.json`,
    ],
    { input: text, encoding: 'utf8', maxBuffer: 1 << 26 },
  );
  return JSON.parse(stdout);
};

describe.skipIf(helm === undefined)('the Helm chart', () => {
  it.each(variants)('is clean for helm lint --strict with %s', (name, values) => {
    const file = join(folder, 'lint-values.yaml');
    writeFileSync(file, stringify(values));
    const { status, stdout, stderr } = runHelm('lint', '--strict', '--values', file, chart);
    expect([name, status, `${stdout}${stderr}`]).toEqual([
      name,
      0,
      expect.stringContaining('1 chart(s) linted, 0 chart(s) failed'),
    ]);
    expect(stdout).not.toMatch(/WARNING|ERROR/);
  });

  it.each(variants)('renders with %s what it should', (name, values, kinds) => {
    const objects = objectsIn(render(name.replaceAll(/\W/g, '-'), values));
    expect(objects.map(({ kind }) => kind).toSorted()).toEqual(kinds.toSorted());
    const label = 'app.kubernetes.io/';
    for (const { metadata } of objects) {
      expect(metadata.labels).toMatchObject({
        [`${label}name`]: 'paraph',
        [`${label}instance`]: 'sign',
        [`${label}component`]: expect.any(String),
        [`${label}part-of`]: 'paraph',
        [`${label}version`]: expect.any(String),
        [`${label}managed-by`]: 'Helm',
        'helm.sh/chart': expect.stringMatching(/^paraph-/),
      });
    }
  });

  it.skipIf(kubeconform === undefined || !hasSchemas).each(variants)(
    'renders with %s what kubeconform takes',
    (name, values, kinds) => {
      const { resources = [], summary } = conform(render(name.replaceAll(/\W/g, '-'), values));
      expect(resources).toEqual([]);
      const skipped = kinds.filter((kind) => custom.includes(kind)).length;
      expect(summary).toEqual({ valid: kinds.length - skipped, invalid: 0, errors: 0, skipped });
    },
  );

  it.skipIf(kubeconform === undefined || !hasSchemas)(
    'would be told by kubeconform of a wrong name and of a wrong value',
    () => {
      const text = render('wrong');
      const renamed = conform(text.replace('startupProbe:', 'startProbe:'));
      expect(JSON.stringify(renamed.resources)).toContain('startProbe');
      const { summary } = conform(text.replace('replicas: 2', 'replicas: two'));
      expect(summary).toMatchObject({ invalid: 1 });
    },
  );

  it.skipIf(!hasModels)('renders what the models of the other kinds take', () => {
    const objects = objectsIn(render('models', everything));
    const others = objects.filter(({ kind }) => custom.includes(kind));
    expect(others).toHaveLength(custom.length);
    expect(checkModels(folder, others)).toEqual(['', '']);
  });

  it.each([
    [['--set', 'repliccas=3'], /additional properties 'repliccas' not allowed/],
    [['--set', 'api.replicas=two'], /api\/replicas.*got string, want integer/s],
    [['--set-string', 'redis.enabled=yes'], /redis\/enabled.*got string, want boolean/s],
    [['--set', 'service.port=70000'], /service\/port/],
  ])('refuses %j', (words, sentence) => {
    const { status, stderr } = runHelm('template', 'sign', chart, ...words);
    expect(status).not.toBe(0);
    expect(stderr).toMatch(sentence);
  });

  it('makes the authority by a job that nothing has to revert or to run again', () => {
    const [text, again] = [render('job'), render('job')];
    expect(again).toBe(text);
    const before = objectsIn(text);
    const after = objectsIn(render('newer', { image: { tag: '9.9.9' } }));
    const job = named(before, 'Job', /first-start/);
    expect(JSON.stringify(job.metadata)).not.toContain('helm.sh/hook');
    expect(job.spec).not.toHaveProperty('ttlSecondsAfterFinished');
    // A changed template is another job; the note about the master key stays where it is.
    expect(named(after, 'Job', /first-start/).metadata.name).not.toBe(job.metadata.name);
    const claim = named(before, 'PersistentVolumeClaim', /first-start/);
    expect(named(after, 'PersistentVolumeClaim', /first-start/)).toEqual({
      ...claim,
      metadata: { ...claim.metadata, labels: expect.any(Object) },
    });
    expect(JSON.stringify(job.spec)).toContain(`"claimName":"${claim.metadata.name}"`);
  });

  it('is what the manifests are', () => {
    const kustomized = readdirSync(join(root, 'deploy/kubernetes/base'))
      .filter((name) => name.endsWith('.yaml') && name !== 'kustomization.yaml')
      .flatMap((name) =>
        objectsIn(readFileSync(join(root, 'deploy/kubernetes/base', name), 'utf8')),
      );
    // The chart calls the release `paraph`, as the manifests are called.
    const text = execFileSync(helm ?? '', ['template', 'paraph', chart], { encoding: 'utf8' });
    const objects = objectsIn(text);
    const podOf = (all: readonly Rendered[], kind: string, name: RegExp) => {
      const { containers, ...pod } = named(all, kind, name).spec.template.spec;
      const { topologySpreadConstraints: _spread, ...rest } = pod;
      const [{ image: _image, imagePullPolicy: _policy, ...container }] = containers;
      return { ...rest, container };
    };
    for (const [kind, name] of [
      ['Deployment', /-api$/],
      ['Deployment', /-worker$/],
      ['StatefulSet', /-redis$/],
      ['Job', /first-start/],
    ] as const) {
      expect(podOf(objects, kind, name)).toEqual(podOf(kustomized, kind, name));
    }
    const { backoffLimit, podFailurePolicy } = named(kustomized, 'Job', /first-start/).spec;
    expect(named(objects, 'Job', /first-start/).spec).toMatchObject({
      backoffLimit,
      podFailurePolicy,
    });
  });
});
