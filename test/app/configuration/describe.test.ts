import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { fillTable, keyTable } from '../../../scripts/key-table.ts';
import { parseConfiguration } from '../../../src/app/configuration/load.ts';
import { documentedEnvironment } from '../../../src/app/configuration/parts.ts';
import { configurationSchema } from '../../../src/app/configuration/schema.ts';

const document = readFileSync(new URL('../../../docs/configuration.md', import.meta.url), 'utf8');

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
