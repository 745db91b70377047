/**
 * What can be held about the Helm chart without Helm: its version, and that the schema of its values
 * takes its own and nothing else. test/interop/helm.test.ts renders it.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';

const root = join(import.meta.dirname, '../../..');
const chart = join(root, 'deploy/helm/paraph');
const read = (path: string): string => readFileSync(path, 'utf8');
const values = parse(read(join(chart, 'values.yaml')));
const document = JSON.parse(read(join(chart, 'values.schema.json')));
const schema = z.fromJSONSchema(document);

it('has the version of the product, twice', () => {
  const { version } = JSON.parse(read(join(root, 'package.json')));
  expect(parse(read(join(chart, 'Chart.yaml')))).toMatchObject({ version, appVersion: version });
});

it('has a schema that takes its own values', () => {
  expect(schema.safeParse(values).error).toBeUndefined();
});

/** The members of objects, by path: `api.autoscaling.enabled`. */
const pathsIn = (value: object, path = ''): readonly string[] =>
  Object.entries(value).flatMap(([name, member]) => {
    const isOpen = Array.isArray(member) || member === null || typeof member !== 'object';
    return [`${path}${name}`, ...(isOpen ? [] : pathsIn(member, `${path}${name}.`))];
  });
const withMember = (path: string, member: unknown) => {
  const changed = structuredClone(values);
  const names = path.split('.');
  const last = names.pop() ?? '';
  names.reduce((at, name) => at[name], changed)[last] = member;
  return changed;
};

// The values of these are Kubernetes' own.
const isFree = (path: string): boolean =>
  /(?:[aA]nnotations|labels|nodeSelector|affinity|requests|limits)$/.test(path);
const paths = pathsIn(values);

it.each(paths.filter((path) => !/\.(?:requests|limits)\./.test(path)))(
  'refuses another type for %s',
  (path) => {
    expect(schema.safeParse(withMember(path, [1])).success).toBe(false);
  },
);

it.each([
  '',
  ...paths.filter((path) => {
    const value = path.split('.').reduce((at, name) => at[name], values);
    return value !== null && typeof value === 'object' && !Array.isArray(value) && !isFree(path);
  }),
])('refuses a name that it does not know in "%s"', (path) => {
  const changed = withMember(path === '' ? 'repliccas' : `${path}.repliccas`, 3);
  expect(JSON.stringify(schema.safeParse(changed).error?.issues)).toContain('repliccas');
});
