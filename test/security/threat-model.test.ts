/**
 * docs/threat-model.md names files that exist, and leaves no threat without a test or a reason.
 * That its tests exist: test/docs/named-tests.test.ts.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const project = join(import.meta.dirname, '../..');
const page = readFileSync(join(project, 'docs/threat-model.md'), 'utf8');

interface Threat {
  readonly id: string;
  /** Letters of STRIDE. */
  readonly kinds: readonly string[];
  readonly tests: readonly string[];
  readonly acceptedRisks: readonly string[];
  readonly text: string;
}

/** A threat begins with its id in bold and reaches to the next one, or to the next boundary. */
const threats: readonly Threat[] = page.split(/^(?=\*\*[A-Z]\d+ )|^(?=## )/m).flatMap((text) => {
  const [, id, kinds] = /^\*\*([A-Z]\d+) \(([^)]*)\) /.exec(text) ?? [];
  if (id === undefined || kinds === undefined) return [];
  const points = text.split(/^- /m).slice(1);
  return [
    {
      id,
      kinds: kinds.split(', '),
      tests: points.flatMap(
        (point) =>
          /^`((?:(?:packages|parts)\/[\w-]+\/)?test\/[^`]+ › [^`]+)`\s*$/.exec(point)?.[1] ?? [],
      ),
      acceptedRisks: points.flatMap((point) => /^Accepted risk: (.*)$/s.exec(point)?.[1] ?? []),
      text,
    },
  ];
});

const boundaries = page.split(/^## /m).slice(1);

describe('the threat model', () => {
  it('has a test for each threat, or says which risk is accepted and why', () => {
    expect(threats.length).toBeGreaterThan(30);
    for (const { id, tests, acceptedRisks } of threats) {
      expect(tests.length + acceptedRisks.length, id).toBeGreaterThan(0);
      for (const risk of acceptedRisks) expect(risk.trim(), id).toMatch(/^\S.{40,}\.$/s);
    }
  });

  it('has nothing under a threat that is neither', () => {
    for (const { id, text, tests, acceptedRisks } of threats) {
      expect(text.match(/^- /gm) ?? [], id).toHaveLength(tests.length + acceptedRisks.length);
    }
  });

  it('gives each threat an id of its own and letters of STRIDE, all of which occur', () => {
    const ids = threats.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(page.match(/^\*\*/gm)).toHaveLength(ids.length);
    expect([...new Set(threats.flatMap(({ kinds }) => kinds))].toSorted()).toEqual([
      'D',
      'E',
      'I',
      'R',
      'S',
      'T',
    ]);
  });

  it('has threats at every boundary', () => {
    expect(boundaries.map((text) => text.slice(0, text.indexOf('\n')))).toEqual([
      'Application → API',
      'Browsers and clients → OpenID provider',
      "Signers' browsers → pages of signers",
      'API and workers → Redis',
      'Other services → queue',
      'Workers → devices and text gateway',
      'Phone in the browser → service',
      "Operators' browsers → console",
      'Service → receivers of callbacks',
      'Operator and command line → service',
      'Data at rest',
      'Build and dependencies',
      'The embedded sandbox',
    ]);
    for (const text of boundaries) expect(text).toMatch(/^\*\*[A-Z]\d+ \(/m);
  });

  it('names files that exist', () => {
    const files = [
      ...page.matchAll(
        /`((?:src|parts|packages|machines|workers|scripts|test)\/[\w./-]+(?:\.(?:ts|mjs|js)|\/)|[\w.-]+\.yml)`/g,
      ),
    ];
    expect(files.length).toBeGreaterThan(20);
    expect(
      files.map(([, file = '']) => file).filter((file) => !existsSync(join(project, file))),
    ).toEqual([]);
  });
});
