import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { fillTable, keyTable } from '../../../scripts/key-table.ts';
import { configurationJsonSchema } from '../../../src/app/configuration/json-schema.ts';
import { parseConfiguration } from '../../../src/app/configuration/load.ts';
import { documentedEnvironment } from '../../../src/app/configuration/parts.ts';
import { configurationSchema } from '../../../src/app/configuration/schema.ts';

const read = (path: string): string =>
  readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8');
const document = read('docs/configuration.md');

describe('docs/configuration.md', () => {
  it('holds the table of keys as the schema describes them', () => {
    expect(document).toContain(keyTable(configurationSchema));
    expect(fillTable(document, 'configuration', keyTable(configurationSchema))).toBe(document);
  });

  it('holds the table of environment variables', () => {
    expect(document).toContain(keyTable(documentedEnvironment));
    expect(fillTable(document, 'environment', keyTable(documentedEnvironment))).toBe(document);
  });

  it('shows a configuration that is accepted', () => {
    const example = /```json\n(.*?)```/s.exec(document)?.[1] ?? '';
    expect(parseConfiguration(example)).toMatchObject({ ok: true });
  });
});

describe('docs/configuration.schema.json', () => {
  const schema = JSON.parse(read('docs/configuration.schema.json'));
  const judge = z.fromJSONSchema(schema);
  const small = /```json\n(.*?)```/s.exec(document)?.[1] ?? '';

  it('is what the sources say', () => {
    expect(schema).toEqual(configurationJsonSchema());
  });

  it.each([
    ['docs/configuration.md', small],
    ['examples/workflows/paraph.json', read('examples/workflows/paraph.json')],
    ['ops/compose.json', read('ops/compose.json')],
    ['deploy/kubernetes/base/paraph.json', read('deploy/kubernetes/base/paraph.json')],
  ])('takes the configuration of %s', (name, text) => {
    const given = JSON.parse(text.replace('METRICS_TOKEN', '0'.repeat(64)));
    expect([name, judge.safeParse(given).error]).toEqual([name, undefined]);
    expect([name, parseConfiguration(JSON.stringify(given))]).toMatchObject([name, { ok: true }]);
  });

  it.each([
    [{ sandboxx: true }],
    [{ sandbox: 'yes' }],
    [{ queue: { shards: 1.5 } }],
    [{ subscribers: [{ msisdn: '41790000001', sim: { device: { kind: 'unknown' } } }] }],
    [{ applicationProviders: [{}] }],
    [{ callbacks: 7 }],
  ])('refuses %j, as the service does', (given) => {
    expect(judge.safeParse(given).success).toBe(false);
    expect(parseConfiguration(JSON.stringify(given)).ok).toBe(false);
  });

  it('has words for every key, without links', () => {
    const silent: string[] = [];
    const look = (node: z.core.JSONSchema.BaseSchema, path: string): void => {
      for (const [name, member] of Object.entries(node.properties ?? {})) {
        const at = `${path}.${name}`;
        if (typeof member === 'boolean') continue;
        if (!member.description || member.description.includes('](')) silent.push(at);
        look(member, at);
      }
      const { items, additionalProperties: others, anyOf = [], oneOf = [] } = node;
      for (const each of [items, others, ...anyOf, ...oneOf].flat())
        if (typeof each === 'object') look(each, `${path}[]`);
    };
    look(schema, '');
    expect(silent).toEqual([]);
  });

  it('may be named in the file, which changes nothing', () => {
    const without = parseConfiguration('{ "sandbox": true }');
    expect(parseConfiguration('{ "$schema": "./anywhere.json", "sandbox": true }')).toEqual(
      without,
    );
    expect(parseConfiguration('{ "$schema": 7 }')).toMatchObject({ ok: false });
  });
});

describe('the table of keys', () => {
  it('says of every key what it means', () => {
    const rows = keyTable(configurationSchema).trim().split('\n').slice(2);
    expect(rows.length).toBeGreaterThan(60);
    expect(rows.filter((row) => row.endsWith('|  |'))).toEqual([]);
  });

  it('is put between its marks and nowhere else', () => {
    const before =
      'a\n<!-- table: one -->\nold\n<!-- end -->\nb\n<!-- table: two -->\n<!-- end -->\n';
    expect(fillTable(before, 'one', 'new\n')).toBe(before.replace('old', 'new'));
    expect(fillTable(before, 'three', 'new\n')).toBe(before);
  });
});
