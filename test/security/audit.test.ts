/**
 * What the audit of the packages lets through and what it does not; and that it lets ours through.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { auditLock, type LockedPackage, readAdvisories } from '../../scripts/audit.mjs';

const project = join(import.meta.dirname, '../..');
const read = (name: string) => JSON.parse(readFileSync(join(project, name), 'utf8'));

const manifest = { dependencies: { hono: '4.0.0' } };
const good: LockedPackage = { version: '4.0.0', integrity: 'sha512-AAAA', license: 'MIT' };

const problemsWith = (
  changes: LockedPackage,
  { asked = '4.0.0', locked = asked }: { asked?: string; locked?: string } = {},
): readonly string[] =>
  auditLock(
    { dependencies: { hono: asked } },
    {
      lockfileVersion: 3,
      packages: {
        '': { dependencies: { hono: locked } },
        'node_modules/hono': { ...good, ...changes },
      },
    },
  ).problems;

describe('the audit of the lock file', () => {
  it('lets the packages of this project through', () => {
    const { problems, packages } = auditLock(read('package.json'), read('package-lock.json'));
    expect(problems).toEqual([]);
    expect(packages).toBeGreaterThan(100);
  });

  it('lets a package through that has all it should have', () => {
    expect(problemsWith({})).toEqual([]);
    expect(problemsWith({ resolved: 'https://registry.npmjs.org/hono/-/hono-4.0.0.tgz' })).toEqual(
      [],
    );
  });

  it.each<[string, LockedPackage, string]>([
    ['from elsewhere', { resolved: 'git+ssh://git@example.com/hono.git' }, 'does not come from'],
    [
      'from a host of a similar name',
      { resolved: 'https://registry.npmjs.org.example.com/h.tgz' },
      'does not come',
    ],
    ['that is a link', { link: true }, 'is a link'],
    ['with a weak checksum', { integrity: 'sha1-AAAA' }, 'has no SHA-512 checksum'],
    ['with a script of its own', { hasInstallScript: true }, 'runs a script'],
    ['under another licence', { license: 'AGPL-3.0' }, 'has the licence AGPL-3.0'],
    ['under a licence that is for tools alone', { license: 'MPL-2.0' }, 'has the licence MPL-2.0'],
    ['without a licence', { license: '' }, 'has the licence'],
  ])('does not let a package through %s', (_, changes, words) => {
    expect(problemsWith(changes)).toEqual([expect.stringContaining(words)]);
  });

  it('lets a checksum be missing for binaries of other platforms alone, and says which', () => {
    const { integrity: _, ...unchecked } = good;
    const audit = (entry: LockedPackage) =>
      auditLock(manifest, {
        lockfileVersion: 3,
        packages: {
          '': manifest,
          'node_modules/hono': good,
          'node_modules/a/node_modules/@b/c': entry,
        },
      });
    expect(audit({ ...unchecked, optional: true, os: ['darwin'] })).toMatchObject({
      problems: [],
      withoutChecksum: ['@b/c'],
    });
    for (const entry of [
      unchecked,
      { ...unchecked, optional: true },
      { ...unchecked, os: ['darwin'] },
    ]) {
      expect(audit(entry).problems).toEqual(['@b/c has no SHA-512 checksum']);
    }
  });

  it('wants what the product is made of pinned, and the lock file in step', () => {
    expect(problemsWith({}, { asked: '^4.0.0' })).toEqual(['hono is not pinned to one version']);
    expect(problemsWith({}, { asked: '4.0.0', locked: '4.0.1' })).toEqual([
      'hono is not locked as package.json asks for it',
    ]);
    expect(problemsWith({}, { asked: 'github:a/b' })).toContain(
      'hono is asked for as github:a/b, which is no version',
    );
    expect(auditLock(manifest, {}).problems).toContain('hono is not in the lock file');
  });
});

describe('what npm audit says', () => {
  const report = (severity: string) =>
    JSON.stringify({
      vulnerabilities: { hono: { name: 'hono', severity } },
      metadata: { vulnerabilities: { [severity]: 1 } },
    });

  it('counts from high severity on', () => {
    expect(readAdvisories(report('critical'))).toMatchObject({
      problems: [expect.stringContaining('hono')],
    });
    expect(readAdvisories(`npm warn x\n${report('high')}`)).toMatchObject({
      problems: [expect.any(String)],
    });
    expect(readAdvisories(report('moderate'))).toEqual({ kind: 'answered', problems: [] });
  });

  it('is never taken for a clean report when there is none', () => {
    for (const output of [
      '',
      'npm error',
      '{',
      '{"message":"405 Method Not Allowed","statusCode":405}',
    ]) {
      expect(readAdvisories(output).kind).toBe('silent');
    }
  });
});
