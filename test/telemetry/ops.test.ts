/**
 * The alert rules, the dashboard and the scaling of workers, held against what is really exported.
 */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { createCallbackCounter } from '../../parts/callbacks/log.ts';
import { createWorkflowCounter } from '../../parts/workflows/metrics.ts';
import { testRedis } from '../support/redis.ts';
import { signRequest } from '../support/requests.ts';
import { type Exposition, readExposition } from './exposition.ts';
import { parsePromql, type Selector } from './promql.ts';
import { openStage, type Stage } from './stage.ts';

const read = (path: string): string =>
  readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels: { readonly severity: string };
  readonly annotations: {
    readonly summary: string;
    readonly description: string;
    readonly runbook?: string;
  };
}
interface Panel {
  readonly id: number;
  readonly title: string;
  readonly type: string;
  readonly gridPos: {
    readonly h: number;
    readonly w: number;
    readonly x: number;
    readonly y: number;
  };
  readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[];
}

const rules: readonly Rule[] = parse(read('ops/alerts.yml')).groups.flatMap(
  (group: { readonly rules: readonly Rule[] }) => group.rules,
);
const dashboard = JSON.parse(read('ops/grafana-dashboard.json'));
const panels: readonly Panel[] = dashboard.panels;
const [, scaling] = parseAllDocuments(read('deploy/kubernetes/autoscaling/workers.yaml'), {
  merge: true,
});
const monitoring = read('docs/operations/monitoring.md');

const expressions: readonly (readonly [string, string])[] = [
  ['the scaling of workers', scaling?.toJS().spec.triggers[0].metadata.query],
  ...rules.map(({ alert, expr }) => [`alert ${alert}`, expr] as const),
  ...panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ expr }, index) => [`panel ${title} ${index + 1}`, expr] as const),
  ),
];

/** What a server adds to each series. */
const ofTheServer = ['job', 'instance'];

const redis = testRedis();
let stage: Stage;
let exported: Exposition;
let labelsOf: (name: string) => readonly string[] | undefined;

beforeAll(async () => {
  stage = await openStage(redis);
  await stage.startWorkers();
  createCallbackCounter(stage.telemetry.registry);
  const counted = createWorkflowCounter(stage.telemetry.registry, ['process']);
  counted.failed(new Error('away'), { workflow: 'process', instance: 'i', activity: 'sign' });
  await stage.post('/rest/service/sign', signRequest());
  await stage.post('/rest/service/sign', signRequest({ msisdn: '+41000092401' }));
  exported = readExposition(await stage.metrics());
  labelsOf = (name) => {
    const family = name.replace(/_(bucket|sum|count)$/, '');
    const histogram = exported.types.get(family) === 'histogram' && family !== name;
    const metric = stage.telemetry.registry.getSingleMetric(histogram ? family : name);
    if (metric === undefined || (!histogram && exported.types.get(name) === 'histogram'))
      return undefined;
    const { labelNames } = metric as unknown as { readonly labelNames: readonly string[] };
    return [...labelNames, ...(name.endsWith('_bucket') ? ['le'] : [])];
  };
});
afterAll(() => stage.stop());

describe.each(expressions)('%s', (_name, expr) => {
  it('can be read, and asks for metrics and labels that are exported', () => {
    const { selectors, groupings } = parsePromql(expr);
    expect(selectors).not.toEqual([]);
    for (const { name, labels } of selectors.filter((each) => each.name !== 'up')) {
      const known = labelsOf(name);
      expect(known, name).toBeDefined();
      expect([...(known ?? []), ...ofTheServer]).toEqual(expect.arrayContaining([...labels]));
    }
    for (const { labels, names } of groupings) {
      for (const name of names) {
        expect([...(labelsOf(name) ?? []), ...ofTheServer]).toEqual(
          expect.arrayContaining([...labels]),
        );
      }
    }
  });

  it('takes rates of counters and of nothing else', () => {
    for (const { name, range } of parsePromql(expr).selectors) {
      const family =
        exported.types.get(name) ?? exported.types.get(name.replace(/_(bucket|sum|count)$/, ''));
      if (name !== 'up')
        expect([name, family]).toEqual([
          name,
          range ? expect.stringMatching(/counter|histogram/) : 'gauge',
        ]);
    }
  });
});

describe('values of labels', () => {
  const known: Readonly<Record<string, readonly string[]>> = {
    state: [
      'submitted',
      'pending',
      'signed',
      'failed',
      'receipted',
      'waiting',
      'active',
      'delayed',
    ],
    fault: ['208', '401', '900'],
    kind: ['redis-timeout', 'redis-away', 'not-believed', 'other'],
    outcome: [
      'signature',
      'delivered',
      'fault',
      'awaiting',
      'unreachable',
      'error',
      'dead',
      'failing',
    ],
    status: ['completed', 'failed', 'cancelled'],
    queue: ['signatures', 'receipts', 'callbacks', 'workflows'],
    job: ['paraph'],
  };

  it('are such as the product writes', () => {
    const asked = expressions.flatMap(([, expr]) => parsePromql(expr).selectors);
    for (const { values } of asked) {
      for (const [label, wanted] of Object.entries(values)) {
        expect(known[label], label).toEqual(expect.arrayContaining([...wanted]));
      }
    }
  });

  it('of the routes find the requests that were made', () => {
    const [, route] =
      /route=~"([^"]+)"/.exec(
        rules.find(({ alert }) => alert === 'ParaphNothingSigned')?.expr ?? '',
      ) ?? [];
    const pattern = new RegExp(`^(?:${route})$`);
    const found = exported.samples.filter(
      ({ name, labels }) =>
        name === 'paraph_http_requests_total' && pattern.test(labels.route ?? ''),
    );
    expect(found.reduce((sum, { value }) => sum + value, 0)).toBe(2);
  });
});

describe('alert rules', () => {
  it('have a name of their own, a severity, a patience and words', () => {
    expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
    for (const { labels, annotations, for: patience } of rules) {
      expect(['critical', 'warning']).toContain(labels.severity);
      expect(patience).toMatch(/^\d+[sm]$/);
      expect(annotations.summary.length).toBeGreaterThan(10);
      expect(annotations.description.length).toBeGreaterThan(10);
    }
  });

  it('name only labels that their expression leaves', () => {
    for (const { alert, expr, annotations } of rules) {
      const named = [...JSON.stringify(annotations).matchAll(/\$labels\.(\w+)/g)].map(
        ([, label]) => label,
      );
      const { groupings, selectors } = parsePromql(expr);
      const left =
        groupings.length > 0
          ? groupings.flatMap(({ labels }) => labels)
          : selectors.flatMap(({ name }) => [...(labelsOf(name) ?? []), ...ofTheServer]);
      for (const label of named) expect(left, alert).toContain(label);
    }
  });

  it('are each explained in the documentation', () => {
    for (const { alert } of rules) expect(monitoring).toContain(`\`${alert}\``);
  });

  it('watch what waits in each queue; callbacks may wait longer, because nobody may want them', () => {
    const queues = new Set(
      exported.samples
        .filter(({ name }) => name === 'paraph_queue_jobs')
        .map(({ labels }) => labels.queue),
    );
    const watching = (queue: string | undefined) =>
      rules.flatMap(({ alert, expr }) => {
        const [, sign, value] = /queue(!=|=)"(\w+)"/.exec(expr) ?? [];
        return sign !== undefined && (sign === '=') === (value === queue) ? [alert] : [];
      });
    const soon = ['ParaphNoWorkers', 'ParaphQueueAge', 'ParaphQueueOverdue'];
    expect([...queues].map((queue) => [queue, watching(queue)]).sort()).toEqual([
      ['callbacks', ['ParaphCallbacksFailing', 'ParaphCallbacksLate']],
      ['receipts', soon],
      ['signatures', soon],
      ['workflows', soon],
    ]);
  });

  it('name runbooks that there are', () => {
    const named = rules.flatMap(({ annotations }) => annotations.runbook ?? []);
    expect(named.length).toBeGreaterThan(0);
    const headings = [...read('docs/operations/runbooks.md').matchAll(/^## (.+)$/gm)].map(
      ([, heading = '']) =>
        `docs/operations/runbooks.md#${heading
          .toLowerCase()
          .replaceAll(/[^\w -]/g, '')
          .replaceAll(' ', '-')}`,
    );
    for (const runbook of named) expect(headings).toContain(runbook);
  });
});

describe('the dashboard', () => {
  it('has panels that do not lie on each other, with ids of their own', () => {
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    const taken = new Set<string>();
    for (const { title, gridPos } of panels) {
      expect(gridPos.x + gridPos.w, title).toBeLessThanOrEqual(24);
      for (let x = gridPos.x; x < gridPos.x + gridPos.w; x += 1) {
        for (let y = gridPos.y; y < gridPos.y + gridPos.h; y += 1) {
          expect(taken.has(`${x},${y}`), title).toBe(false);
          taken.add(`${x},${y}`);
        }
      }
    }
  });

  it('names series by labels that they have', () => {
    for (const { title, targets = [] } of panels) {
      for (const { expr, legendFormat } of targets) {
        const { groupings, selectors } = parsePromql(expr);
        const left = groupings.at(-1)?.labels ?? [
          ...selectors.flatMap(({ name }) => labelsOf(name) ?? []),
          ...ofTheServer,
        ];
        for (const [, label] of legendFormat.matchAll(/\{\{(\w+)\}\}/g))
          expect(left, title).toContain(label);
      }
    }
  });

  it('shows every metric of ours', () => {
    const shown = new Set(
      expressions.flatMap(([, expr]) =>
        parsePromql(expr).selectors.map(({ name }: Selector) =>
          name.replace(/_(bucket|sum|count)$/, ''),
        ),
      ),
    );
    for (const name of exported.types.keys()) {
      if (!/^paraph_(nodejs|process)_/.test(name)) expect(shown, name).toContain(name);
    }
  });
});

it('metrics are named as Prometheus wants them', () => {
  for (const [name, type] of exported.types) {
    expect([name, name.endsWith('_total')]).toEqual([name, type === 'counter']);
    expect(name).not.toMatch(
      /_(milliseconds|ms|minutes|hours|kilobytes|bucket|count|sum)(_total)?$/,
    );
  }
});

it('the documentation has a row for every metric of ours, with its labels, and for no other', () => {
  const rows = [...monitoring.matchAll(/^\| `(paraph_\w+)` \| (\w+) \| ([^|]*) \|/gm)].map(
    ([, name, type, labels = '']) => [
      name,
      type,
      [...labels.matchAll(/`(\w+)`/g)].map(([, label]) => label),
    ],
  );
  const ours = [...exported.types]
    .filter(([name]) => !/^paraph_(nodejs|process)_/.test(name))
    .map(([name, type]) => [name, type, labelsOf(type === 'histogram' ? `${name}_sum` : name)]);
  expect(rows.map((row) => JSON.stringify(row)).sort()).toEqual(
    ours.map((row) => JSON.stringify(row)).sort(),
  );
});

describe('the reader of expressions', () => {
  it.each([
    'sum(rate(paraph_x_total))',
    'rate(paraph_x_total[5m]',
    'sum by route (rate(paraph_x_total[5m]))',
    'paraph_x{a=}',
    'paraph_x{a="b}',
    'paraph_x[5m]',
    'paraph_x >',
    'paraph_x paraph_y',
    'histogram_quantile(0.95, sum by (kind) (rate(paraph_x_bucket[5m])))',
    'histogram_quantile(0.95, sum by (le) (rate(paraph_x_sum[5m])))',
    'sume(paraph_x)',
    'sum(paraph_x) or 0',
    'paraph_x{a=~"("}',
    'rate(paraph_x_total[5 m])',
  ])('refuses %s', (expr) => {
    expect(() => parsePromql(expr)).toThrow();
  });
});
