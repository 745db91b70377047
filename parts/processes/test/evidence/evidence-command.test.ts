import { X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newCustody } from '../../../../packages/pki/test/fixtures.ts';
import { run } from '../../../../test/cli/terminal.ts';
import { contentOf, createStage, definition, resign } from './stage.ts';

const folder = mkdtempSync(join(tmpdir(), 'paraph-cli-evidence-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const file = (name: string, text: string): string => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};

let record: string;
let root: string;
let contract: string;
let stage: Awaited<ReturnType<typeof createStage>>;
beforeAll(async () => {
  stage = await createStage();
  record = file('evidence.jws', `${stage.evidence}\n`);
  root = file('root.pem', stage.roots.map((der) => new X509Certificate(der).toString()).join(''));
  contract = file('contract.json', JSON.stringify(definition, null, 2));
});
const verify = (path: string, ...more: readonly string[]) =>
  run(['evidence', 'verify', path, '--service-root', root, ...more]);

describe('paraph evidence verify', () => {
  it('shows what a record says that verifies', async () => {
    const { exitCode, stdout, stderr } = await verify(record, '--definition', contract);
    expect(stderr).toBe('');
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/^The record verifies\n\n {2}process +contract-4711\n/);
    expect(stdout.replaceAll(/\s+/g, ' ')).toContain('board: Beat, +41700092502, MIDCHE');
    expect(stdout).not.toContain('--definition');
    expect((await verify(record)).stdout).toContain('name the definition with --definition');
  });

  it('reads the answer of the service as well', async () => {
    const answer = file(
      'process.json',
      JSON.stringify({ id: 'a', output: { evidence: stage.evidence } }),
    );
    const { exitCode, json } = await verify(answer, '--definition', contract, '--json');
    expect(exitCode).toBe(0);
    expect(json()).toMatchObject({
      outcome: 'ok',
      verified: true,
      definition: 'checked',
      trust: { source: 'file', from: root },
      evidence: { signatures: [{ name: 'Anna' }, { name: 'Beat' }, { name: 'Dora' }] },
    });
  });

  it('ends with 4 and says what is wrong', async () => {
    const content = contentOf(stage.evidence);
    const lie = await resign(stage.custody, {
      ...content,
      signatures: content.signatures.slice(1),
    });
    const path = file('lie.jws', lie);
    const { exitCode, stdout, stderr } = await verify(path, '--definition', contract);
    expect(exitCode).toBe(4);
    expect(stdout).toBe('');
    expect(stderr).toBe(
      'paraph: The record does not verify:\n  steps[0]: does not have the signatures that it needs\n',
    );
    const told = await verify(path, '--definition', contract, '--json');
    expect(told.json()).toMatchObject({
      outcome: 'unverified',
      verified: false,
      problems: [{ place: 'steps[0]', reason: 'NOT_ENOUGH' }],
    });
    const late = await verify(record, '--at', '2031-01-01T00:00:00Z', '--json');
    expect(late.json().problems[0]).toMatchObject({
      place: 'signatures[0].cms',
      reason: 'CERTIFICATE_EXPIRED',
    });
  });

  it('verifies the signature of another service by the roots of its gateway', async () => {
    const other = await createStage(newCustody());
    const content = contentOf(stage.evidence);
    const [first, ...others] = content.signatures;
    const [foreign] = contentOf(other.evidence).signatures;
    const mixed = await resign(stage.custody, {
      ...content,
      signatures: [
        {
          ...first,
          cms: foreign?.cms,
          serialNumber: foreign?.serialNumber,
          upstream: { gateway: 'live', msspTransId: 'H1' },
        },
        ...others,
      ],
    });
    const path = file('mixed.jws', mixed);
    const pem = other.roots.map((der) => new X509Certificate(der).toString()).join('');
    const theirs = file('live.pem', pem);
    const { exitCode, stdout } = await verify(path, '--gateway-root', `live=${theirs}`);
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/^ {2}gateway live +\S+live\.pem$/m);
    const told = await verify(path, '--gateway-root', `live=${theirs}`, '--json');
    expect(told.json().gatewayTrust.live).toMatchObject({ source: 'file', from: theirs });
    expect((await verify(path)).stderr).toContain('names a gateway whose roots were not given');
    // The other service signs a whole record in our name.
    const forged = file('forged.jws', await resign(other.custody, contentOf(mixed)));
    expect((await verify(forged, '--gateway-root', `live=${theirs}`)).exitCode).toBe(4);
    const both = file('both.pem', `${readFileSync(root, 'utf8')}${pem}`);
    for (const old of [
      ['--root', both],
      ['--root', root, '--service-root', root],
    ]) {
      const call = await run(['evidence', 'verify', forged, ...old]);
      expect(call.exitCode).toBe(2);
      expect(call.stderr).toContain('name those of the service with --service-root');
    }
    const shared = ['--service-root', both, '--gateway-root', `live=${theirs}`];
    const { stderr } = await run(['evidence', 'verify', forged, ...shared]);
    expect(stderr).toBe(
      'paraph: The files that --service-root and --gateway-root name have a certificate in common.\n',
    );
  });

  it.each([
    ['The file cannot be read.', () => [join(folder, 'absent')]],
    [
      'The file is JSON without output.evidence: has the process ended?',
      () => [file('open.json', '{}')],
    ],
    ['The file is no JSON.', () => [file('half.json', '{"output"')]],
    ['The file that --definition names is no JSON.', () => [record, '--definition', record]],
    ['--at must be a time such as 2026-12-24T12:00:00Z.', () => [record, '--at', 'tomorrow']],
    [
      '--gateway-root must be the name of a gateway and a file, such as live=roots.pem.',
      () => [record, '--gateway-root', root],
    ],
    [
      '--gateway-root names a gateway twice.',
      () => [record, '--gateway-root', `a=${root}`, '--gateway-root', `a=${root}`],
    ],
    [
      'The file that --service-root names has no usable certificate (PEM).',
      () => [record, '--service-root', contract],
    ],
  ])('ends with 2: %s', async (sentence, args) => {
    const [path = '', ...more] = args();
    const { exitCode, stderr } = await verify(path, ...more);
    expect(stderr).toBe(`paraph: ${sentence}\n`);
    expect(exitCode).toBe(2);
  });
});
