/**
 * The house rule: `packages ← machines ← core ← parts ← app`. A package imports packages alone, and
 * neither a package nor the core imports a part. A part imports of another part only the index file,
 * and only when it names that part in `needs`; what it brings to any other goes through a port of
 * the core (`src/http/outgoing/tellers.ts` is one).
 */
import { posix } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parts } from '../parts/parts.ts';
import { importsIn, readSources } from './support/imports.ts';

const floors = ['package', 'machines', 'core', 'part', 'app'] as const;
type Floor = (typeof floors)[number];

/** The first line whose pattern fits counts. */
const places: readonly (readonly [floor: Floor, name: string, pattern: RegExp])[] = [
  ['app', 'app', /^parts\/(parts|configuration)\.ts/],
  ['app', 'app', /^src\/(app|cli)\//],
  // Each folder of `parts/` is a part, with its name.
  ['part', '', /^parts\/([^/]+)\//],
  ['package', '', /^packages\/([^/]+)\//],
  ['machines', 'machines', /^machines\//],
  ['core', 'core', /^(src|workers)\//],
];

const placeOf = (path: string): { readonly floor: Floor; readonly name: string } => {
  const found = places.find(([, , pattern]) => pattern.test(path));
  if (found === undefined) throw new Error(`${path} has no place in the table`);
  const [floor, name, pattern] = found;
  return { floor, name: name === '' ? (pattern.exec(path)?.[1] ?? '') : name };
};

const isNeeded = (of: string, path: string): boolean =>
  parts.some(
    ({ name, needs = [] }) =>
      name === of && needs.some((need) => path === `parts/${need}/index.ts`),
  );

/**
 * @returns A line for each import of something above, or of another part that the part does not
 *   need: `file → place`.
 */
const arrowsOf = (path: string, text: string): readonly string[] => {
  const from = placeOf(path);
  return importsIn(text).flatMap((name) => {
    if (name?.startsWith('.') !== true) return [];
    const imported = posix.join(posix.dirname(path), name);
    const to = placeOf(imported);
    const isPart = to.floor === 'part' && from.floor === 'part' && to.name !== from.name;
    const isOtherPart = isPart && !isNeeded(from.name, imported);
    return isOtherPart || floors.indexOf(to.floor) > floors.indexOf(from.floor)
      ? [`${path} → ${to.name}`]
      : [];
  });
};

describe('the house rule', () => {
  it('is kept by every import', () => {
    const found = new Set(readSources().flatMap(([path, text]) => arrowsOf(path, text)));
    expect([...found]).toEqual([]);
  });

  it.each([
    ['packages/protocol/src/planted.ts', '../../../src/transactions/ids.ts', 'core'],
    ['packages/pki/src/planted.ts', '../../../src/registry/entry.ts', 'core'],
    ['packages/client/src/planted.ts', '../../../machines/record.ts', 'machines'],
    ['machines/planted.machine.ts', '../src/registry/entry.ts', 'core'],
    ['src/sscd/planted.ts', '../../parts/phone/device.ts', 'phone'],
    ['src/sscd/planted.ts', '../../parts/gateway/gateways.ts', 'gateway'],
    ['src/oauth/planted.ts', '../../parts/ciba/begin.ts', 'ciba'],
    ['workers/planted.ts', '../parts/workflows/activities/workflow.worker.ts', 'workflows'],
    ['src/telemetry/planted.ts', '../../parts/callbacks/callback.worker.ts', 'callbacks'],
    ['parts/callbacks/planted.ts', '../processes/notices.ts', 'processes'],
    ['parts/callbacks/planted.ts', '../workflows/index.ts', 'workflows'],
    ['parts/processes/planted.ts', '../workflows/queue.ts', 'workflows'],
    ['parts/workflows/planted.ts', '../processes/names.ts', 'processes'],
    ['src/telemetry/logger.ts', '../../parts/processes/tasks/signer-mail.ts', 'processes'],
    ['src/console/operators/planted.ts', '../../app/configuration/schema.ts', 'app'],
    ['parts/phone/planted.ts', '../../src/app/core.ts', 'app'],
  ])('is broken in %s by %s', (path, name, place) => {
    expect(arrowsOf(path, `import type { A } from '${name}';`)).toEqual([`${path} → ${place}`]);
  });

  it('lets a part import the index file of a part that it needs', () => {
    const text = `import type { A } from '../workflows/index.ts';`;
    expect(arrowsOf('parts/processes/planted.ts', text)).toEqual([]);
  });

  it('has no line in its table that no file falls under', () => {
    const paths = readSources().map(([path]) => path);
    const used = new Set(paths.map((path) => places.find(([, , pattern]) => pattern.test(path))));
    expect(places.filter((place) => !used.has(place))).toEqual([]);
  });
});
