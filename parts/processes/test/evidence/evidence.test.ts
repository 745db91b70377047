import { execFile } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { compactVerify, importX509 } from 'jose';
import { beforeAll, describe, expect, it } from 'vitest';
import { newCustody, now, owner } from '../../../../packages/pki/test/fixtures.ts';
import { opensslVerify } from '../../../../packages/pki/test/openssl.ts';
import {
  attachCertificates,
  type Evidence,
  hashDefinition,
  verifyEvidence,
} from '../../../../src/app/package/index.ts';
import type { ProcessReport, ReportEntry } from '../../charts/process-report.ts';
import { evidenceType } from '../../evidence/evidence.ts';
import {
  contentOf,
  createStage,
  definition,
  headerOf,
  minute,
  resign,
  signed,
  signJws,
} from './stage.ts';

const execute = promisify(execFile);
let stage: Awaited<ReturnType<typeof createStage>>;
let content: Evidence;
beforeAll(async () => {
  stage = await createStage();
  content = contentOf(stage.evidence);
});

const pemOf = (der: Uint8Array): string => new X509Certificate(der).toString();
const problemsIn = async (
  evidence: string,
  more: object = { definition },
): Promise<readonly string[]> => {
  const result = await verifyEvidence(evidence, { serviceRoots: stage.roots, ...more });
  return result.ok ? [] : result.problems.map(({ place, reason }) => `${place} ${reason}`);
};
type Change = (content: Evidence) => unknown;
/** The record that a service would sign that lies. */
const changed = async (change: Change): Promise<string> =>
  resign(stage.custody, change(structuredClone(content)));
/** One entry of a list, changed. */
const at = <T>(list: readonly T[], index: number, change: Partial<T>): readonly T[] =>
  list.map((each, place) => (place === index ? { ...each, ...change } : each));

describe('an evidence record', () => {
  it('says who has signed which text, when and in which step, and verifies from the root alone', async () => {
    const result = await verifyEvidence(stage.evidence, { serviceRoots: stage.roots, definition });
    expect(result).toMatchObject({
      ok: true,
      evidence: {
        iss: 'https://sign.example',
        iat: (now + 4 * minute) / 1000,
        process: {
          id: 'contract-4711',
          apId: 'mid://shop.example',
          definitionHash: hashDefinition(definition),
        },
        outcome: 'completed',
        signatures: [
          {
            step: 'board',
            name: 'Anna',
            msisdn: '+41700092501',
            text: 'Contract 4711: I agree',
            attempt: 1,
          },
          { step: 'board', name: 'Beat', text: 'Contract 4711: I agree, for the board' },
          { step: 'witness', name: 'Dora', at: '2026-03-01T12:03:00.000Z' },
        ],
        refusals: [],
      },
    });
    expect(
      await problemsIn(stage.evidence, { serviceRoots: stage.roots.map(pemOf).join('\n') }),
    ).toEqual([]);
  });

  it('has the same content when it is made again', async () => {
    const again = await stage.make(stage.ended);
    expect(contentOf(again)).toEqual(content);
    expect(headerOf(again)).toEqual(headerOf(stage.evidence));
  });

  it('names a definition whatever the order of its members', () => {
    const { text, steps } = definition;
    expect(hashDefinition({ steps, text })).toBe(
      hashDefinition(JSON.parse(JSON.stringify({ text, steps }))),
    );
    expect(hashDefinition({ steps: steps.toReversed(), text })).not.toBe(
      hashDefinition(definition),
    );
  });

  it('is verified by other programs: the chain and each CMS by openssl, the JWS by jose', async () => {
    const [leaf = '', root = ''] = headerOf(stage.evidence).x5c.map((der) =>
      pemOf(Buffer.from(der, 'base64')),
    );
    const { payload } = await compactVerify(stage.evidence, await importX509(leaf, 'ES256'));
    expect(JSON.parse(Buffer.from(payload).toString())).toEqual(content);
    const folder = await mkdtemp(join(tmpdir(), 'paraph-evidence-'));
    try {
      await writeFile(join(folder, 'leaf.pem'), leaf);
      await writeFile(join(folder, 'root.pem'), root);
      const attime = String((now + minute) / 1000);
      const { stdout } = await execute(
        'openssl',
        ['verify', '-x509_strict', '-attime', attime, '-CAfile', 'root.pem', 'leaf.pem'],
        { cwd: folder },
      );
      expect(stdout).toBe('leaf.pem: OK\n');
      const purposes = await execute(
        'openssl',
        ['x509', '-in', 'leaf.pem', '-noout', '-ext', 'keyUsage,extendedKeyUsage'],
        {
          cwd: folder,
        },
      );
      expect(purposes.stdout).toContain('Digital Signature\n');
      expect(purposes.stdout).toMatch(/1\.3\.6\.1\.5\.5\.7\.3\.36|Document Signing/);
    } finally {
      await rm(folder, { recursive: true });
    }
    const [trusted = Buffer.of()] = stage.roots;
    for (const { cms, text, at: time } of content.signatures)
      expect(
        (await opensslVerify(Buffer.from(cms, 'base64'), trusted, new Date(time))).toString(),
      ).toBe(text);
  });

  it('counts each certificate at the time of its use, or at a time that is asked for', async () => {
    expect(await problemsIn(stage.evidence, { at: new Date(now + minute), definition })).toEqual(
      [],
    );
    expect(await problemsIn(stage.evidence, { at: new Date('2031-01-01') })).toEqual([
      'signatures[0].cms CERTIFICATE_EXPIRED',
      'signatures[1].cms CERTIFICATE_EXPIRED',
      'signatures[2].cms CERTIFICATE_EXPIRED',
    ]);
    expect(await problemsIn(stage.evidence, { at: new Date('2037-01-01') })).toEqual([
      'header.x5c CERTIFICATE_EXPIRED',
    ]);
  });
});

describe('an evidence record that somebody has changed', () => {
  it('does not verify with any bit of it flipped', async () => {
    const { evidence } = stage;
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    // Every character is too slow; all of the signature, and some of the rest.
    const from = evidence.lastIndexOf('.');
    const places = Array.from(evidence, (_, index) => index).filter(
      (index) => index > from || index % 97 === 0,
    );
    for (const place of places) {
      const value = alphabet.indexOf(evidence.charAt(place));
      const other = value < 0 ? 'A' : alphabet.charAt(value ^ (1 << (place % 6)));
      const flipped = `${evidence.slice(0, place)}${other}${evidence.slice(place + 1)}`;
      expect(
        (await verifyEvidence(flipped, { serviceRoots: stage.roots })).ok,
        `character ${place}`,
      ).toBe(false);
    }
  });

  it('does not verify under another root, and the record of another service does not either', async () => {
    const other = await createStage();
    expect(await problemsIn(stage.evidence, { serviceRoots: other.roots })).toEqual([
      'header.x5c UNTRUSTED_CHAIN',
    ]);
    expect(await problemsIn(other.evidence)).toEqual(['header.x5c UNTRUSTED_CHAIN']);
    // Its own key with our certificates.
    const { privateKey } = await other.custody.evidenceKey();
    const forged = await signJws(privateKey, headerOf(stage.evidence), content);
    expect(await problemsIn(forged)).toEqual(['signature BAD_SIGNATURE']);
  });

  it('does not verify when a person has signed it in the place of the service', async () => {
    const key = await stage.custody.userKey(owner());
    const x5c = key.chain.certificates.map((der) => Buffer.from(der).toString('base64'));
    const forged = await signJws(key.privateKey, { alg: 'ES256', typ: evidenceType, x5c }, content);
    expect(await problemsIn(forged)).toEqual(['header.x5c WRONG_PURPOSE']);
  });

  it.each([
    ['header.typ WRONG_TYPE', { typ: 'JWT' }],
    ['header.typ WRONG_TYPE', { typ: undefined }],
    ['header.x5c MALFORMED', { x5c: [] }],
    ['header.x5c MALFORMED', { x5c: ['AAAA'] }],
    ['header.x5c MALFORMED', { x5c: undefined }],
  ])('is refused for %s', async (problem, header) => {
    expect(await problemsIn(await resign(stage.custody, content, header))).toEqual([problem]);
  });

  it.each(['', 'a.b', 'a.b.c.d', 'e30.e30.e30', 'no record'])(
    'is refused when it is %j',
    async (text) => {
      const result = await verifyEvidence(text, { serviceRoots: stage.roots });
      expect(result.ok).toBe(false);
      expect(await verifyEvidence(undefined as never, { serviceRoots: stage.roots })).toMatchObject(
        {
          problems: [{ place: 'jws', reason: 'NO_JWS' }],
        },
      );
    },
  );

  it('is refused for algorithms that need no key of ours', async () => {
    const [, payload = '', signature = ''] = stage.evidence.split('.');
    for (const alg of ['none', 'HS256', 'RS256']) {
      const header = Buffer.from(JSON.stringify({ ...headerOf(stage.evidence), alg })).toString(
        'base64url',
      );
      expect(await problemsIn(`${header}.${payload}.${signature}`)).toEqual([
        'header.alg UNSUPPORTED_ALGORITHM',
      ]);
    }
  });
});

describe('an evidence record in which the service lies', () => {
  const cases: ReadonlyArray<readonly [string, readonly string[], Change]> = [
    [
      'a CMS of another entry',
      ['signatures[0].cms CONTENT_MISMATCH'],
      (c) => ({ ...c, signatures: at(c.signatures, 0, { cms: c.signatures[1]?.cms ?? '' }) }),
    ],
    [
      "another person's signature over the same text",
      ['signatures[0].cms ANOTHER_PERSON'],
      (c) => ({ ...c, signatures: at(c.signatures, 0, { cms: c.signatures[2]?.cms ?? '' }) }),
    ],
    [
      'a signature of the same person for another transaction',
      ['signatures[0].cms ANOTHER_TRANSACTION'],
      (c) => ({ ...c, signatures: at(c.signatures, 0, { msspTransId: 'H0000000000000000000' }) }),
    ],
    [
      'a signature of an earlier attempt',
      ['signatures[0].cms ANOTHER_TRANSACTION'],
      (c) => ({ ...c, signatures: at(c.signatures, 0, { attempt: 2 }) }),
    ],
    [
      'another text',
      ['signatures[0].cms CONTENT_MISMATCH', 'signatures[0].text ANOTHER_TEXT'],
      (c) => ({ ...c, signatures: at(c.signatures, 0, { text: 'Contract 4711: I agree.' }) }),
    ],
    [
      'another number',
      ['signatures[0].msisdn NO_SIGNER'],
      (c) => ({ ...c, signatures: at(c.signatures, 0, { msisdn: '+41700092509' }) }),
    ],
    [
      'another name',
      ['signatures[0].msisdn NO_SIGNER'],
      (c) => ({ ...c, signatures: at(c.signatures, 0, { name: 'Eve' }) }),
    ],
    [
      'a signer in the place of another, whose signature alone would do',
      ['signatures[0].msisdn NO_SIGNER'],
      (c) => ({ ...c, signatures: at(c.signatures, 0, { key: 'escalated' }) }),
    ],
    [
      'an entry that was removed',
      ['steps[0] NOT_ENOUGH'],
      (c) => ({ ...c, signatures: c.signatures.slice(1) }),
    ],
    [
      'an entry that is there twice',
      ['signatures[1].msspTransId TWICE', 'signatures[1].msisdn TWICE'],
      (c) => ({ ...c, signatures: [c.signatures[0], ...c.signatures] }),
    ],
    [
      'an entry of another step',
      ['signatures[0].at OUT_OF_ORDER', 'signatures[0].msisdn NO_SIGNER', 'steps[0] NOT_ENOUGH'],
      (c) => ({ ...c, signatures: at(c.signatures, 0, { step: 'witness' }) }),
    ],
    [
      'an entry of an unknown step',
      ['signatures[0].step UNKNOWN_STEP', 'signatures[0].msisdn NO_SIGNER', 'steps[0] NOT_ENOUGH'],
      (c) => ({ ...c, signatures: at(c.signatures, 0, { step: 'bored' }) }),
    ],
    [
      'a step that began too early',
      ['signatures[2].at OUT_OF_ORDER'],
      (c) => ({ ...c, signatures: at(c.signatures, 2, { at: '2026-03-01T12:01:30.000Z' }) }),
    ],
    [
      'a signature after the end',
      ['signatures[2].at AFTER_THE_END'],
      (c) => ({ ...c, signatures: at(c.signatures, 2, { at: '2026-03-01T12:04:01.000Z' }) }),
    ],
    [
      'steps in another order',
      ['signatures[0].at OUT_OF_ORDER', 'signatures[1].at OUT_OF_ORDER', 'steps OTHER_STEPS'],
      (c) => ({ ...c, steps: c.steps.toReversed() }),
    ],
    [
      'a step that is left out',
      ['signatures[2].step UNKNOWN_STEP', 'steps OTHER_STEPS'],
      (c) => ({ ...c, steps: c.steps.slice(0, 1) }),
    ],
    [
      'a step that was skipped without a condition',
      ['signatures[2].step SKIPPED', 'steps[1].state NOT_SKIPPABLE'],
      (c) => ({ ...c, steps: at(c.steps, 1, { state: 'skipped' }) }),
    ],
    [
      'a step that has not ended',
      ['steps[1].state NOT_ENDED'],
      (c) => ({ ...c, steps: at(c.steps, 1, { state: 'failed' }) }),
    ],
    [
      'the hash of another definition',
      ['process.definitionHash ANOTHER_DEFINITION'],
      (c) => ({ ...c, process: { ...c.process, definitionHash: hashDefinition({}) } }),
    ],
    [
      "one person's serial number for two numbers",
      ['signatures[1].cms ANOTHER_PERSON', 'signatures[1].serialNumber AMBIGUOUS'],
      (c) => ({
        ...c,
        signatures: at(c.signatures, 1, { serialNumber: c.signatures[0]?.serialNumber ?? '' }),
      }),
    ],
    [
      'a member of another type',
      ['signatures[1].attempt MALFORMED'],
      (c) => ({ ...c, signatures: at(c.signatures, 1, { attempt: '1' as never }) }),
    ],
    [
      'a CMS that is none',
      ['signatures[2].cms MALFORMED'],
      (c) => ({ ...c, signatures: at(c.signatures, 2, { cms: 'AAAA' }) }),
    ],
  ];

  it.each(cases)('is found: %s', async (_, problems, change) => {
    expect(await problemsIn(await changed(change))).toEqual(problems);
  });

  it('is found when a certificate was expired at the time of the signature', async () => {
    const [first, ...others] = stage.ended.report.signatures;
    if (first === undefined) throw new Error('no entry');
    const { custody } = stage;
    const { person, ...rest } = first;
    const expired = await signed(custody, { ...rest, ...person }, { expired: true });
    const { certificates } = (
      await custody.userKey(owner({ msisdn: person.msisdn.slice(1), expired: true }))
    ).chain;
    const { cms: bare } = expired.proof as { readonly cms: string };
    const cms = attachCertificates(Buffer.from(bare, 'base64'), certificates);
    const forged = await changed((c) => ({
      ...c,
      signatures: at(c.signatures, 0, { cms: Buffer.from(cms).toString('base64') }),
    }));
    expect(await problemsIn(forged)).toEqual(['signatures[0].cms CERTIFICATE_EXPIRED']);
    // And nothing like it is made.
    const made = make({ signatures: [expired, ...others] });
    await expect(made).rejects.toThrow(
      'signatures[0]: the signature does not verify: CERTIFICATE_EXPIRED',
    );
  });

  it('never repeats a value in what it says', async () => {
    for (const [, , change] of cases) {
      const result = await verifyEvidence(await changed(change), {
        serviceRoots: stage.roots,
        definition,
      });
      const said = result.ok ? '' : result.problems.map(({ message }) => message).join('\n');
      expect(said).not.toMatch(/\+41|Anna|Beat|Dora|Eve|4711|MIDCHE|H00|mid:|bored/);
    }
  });
});

/** The record of a process that has ended otherwise. */
const make = (change: Partial<ProcessReport>, given: unknown = definition): Promise<string> =>
  stage.make({ ...stage.ended, definition: given, report: { ...stage.ended.report, ...change } });

describe('making an evidence record', () => {
  const changedEntry = (change: Partial<ReportEntry>): Promise<string> =>
    make({ signatures: at(stage.ended.report.signatures, 0, change) });
  const anna = { name: 'Anna', msisdn: '+41700092501', text: 'Contract 4711: I agree' };

  it.each([
    [
      'signatures[0]: the signature does not verify: CONTENT_MISMATCH',
      { person: { ...anna, text: 'Another text' } },
    ],
    ['signatures[0]: another person has signed', { person: { ...anna, msisdn: '+41700092509' } }],
    ['signatures[0]: the signature is of another transaction or attempt', { attempt: 2 }],
    ['signatures[0]: the transaction has no signature', { proof: undefined }],
  ])('fails: %s', async (message, change) => {
    await expect(changedEntry(change)).rejects.toThrow(message);
  });

  const [board, witness] = definition.steps;
  const withoutBeat = () => stage.ended.report.signatures.filter(({ key }) => key !== 'board2');
  const steps = (state: 'done' | 'unmet' | 'failed') => [
    { name: 'board', state },
    { name: 'witness', state: 'done' as const },
  ];
  const beat: ProcessReport['refusals'][number] = {
    step: 'board',
    key: 'board2',
    person: { name: 'Beat', msisdn: '+41700092502', text: '' },
    kind: 'refused',
    at: now + 2 * minute,
    reason: 'Page 3 is wrong',
  };

  it('takes a step without enough signatures for over where its rules let the process go on', async () => {
    const change = { signatures: withoutBeat(), refusals: [beat] };
    const passing = { ...definition, steps: [{ ...board, onRefusal: 'continue' }, witness] };
    const record = await make({ ...change, steps: steps('unmet') }, passing);
    expect(await problemsIn(record, { definition: passing })).toEqual([]);
    expect(contentOf(record).refusals).toEqual([
      {
        step: 'board',
        key: 'board2',
        name: 'Beat',
        msisdn: '+41700092502',
        kind: 'refused',
        at: '2026-03-01T12:02:00.000Z',
        reason: 'Page 3 is wrong',
      },
    ]);
    expect(await problemsIn(await make({ ...change, steps: steps('unmet') }))).toEqual([
      'steps[0].state NOT_PASSABLE',
    ]);
    const done = await make({ ...change, steps: steps('done') }, passing);
    expect(await problemsIn(done, { definition: passing })).toEqual(['steps[0] NOT_ENOUGH']);
  });

  it('counts a substitute in the place of the signer, and the one to whom a step escalates for all', async () => {
    const eva = { name: 'Eva', msisdn: '+41700092505', text: 'Contract 4711: I agree' };
    const { name, msisdn } = eva;
    const [first, second, third] = stage.ended.report.signatures;
    if (first === undefined || second === undefined || third === undefined)
      throw new Error('no entry');
    const by = (key: string, text = eva.text) =>
      signed(stage.custody, { ...eva, text, step: 'board', key, at: now + 2 * minute });

    const text = second.person.text;
    const [anna1, beat1] = board?.signers ?? [];
    const replaced = {
      ...definition,
      steps: [
        { ...board, signers: [anna1, { ...beat1, substitutes: [{ name, msisdn }] }] },
        witness,
      ],
    };
    const substituted = await make(
      { signatures: [first, await by('board2', text), third] },
      replaced,
    );
    expect(await problemsIn(substituted, { definition: replaced })).toEqual([]);
    // In the place of Anna, who has signed herself.
    const wrong = await make({ signatures: [first, await by('board1', text), third] }, replaced);
    expect(await problemsIn(wrong, { definition: replaced })).toContain('steps[0] NOT_ENOUGH');

    const escalating = {
      ...definition,
      steps: [{ ...board, escalate: { after: 'P1D', to: { name, msisdn } } }, witness],
    };
    const escalated = await make({ signatures: [await by('escalated'), third] }, escalating);
    expect(await problemsIn(escalated, { definition: escalating })).toEqual([]);
  });

  it('lets nobody sign after a step that has failed, but those who compensate for it', async () => {
    const undo = {
      name: 'undo',
      text: 'Contract 4711: void',
      signers: [{ key: 'undo1', name: 'Anna', msisdn: '+41700092501' }],
    };
    const given = { ...definition, compensation: [{ tell: 'https://shop.example/' }, undo] };
    const void1 = await signed(stage.custody, {
      step: 'undo',
      key: 'undo1',
      name: 'Anna',
      msisdn: '+41700092501',
      text: undo.text,
      at: now + 3 * minute,
    });
    const states = [...steps('failed').slice(0, 1), { name: 'witness', state: 'waiting' as const }];
    const [first, , third] = stage.ended.report.signatures;
    if (first === undefined || third === undefined) throw new Error('no entry');
    const failed = {
      outcome: 'failed',
      steps: [...states, { name: 'undo', state: 'done' }],
    } as const;
    const good = await make({ ...failed, signatures: [first, void1], refusals: [beat] }, given);
    expect(await problemsIn(good, { definition: given })).toEqual([]);
    const bad = await make(
      { ...failed, signatures: [first, third, void1], refusals: [beat] },
      given,
    );
    expect(await problemsIn(bad, { definition: given })).toEqual(['signatures[1].at OUT_OF_ORDER']);
  });

  it('holds that the compensation revokes what its definition says', async () => {
    const given = { ...definition, compensation: [{ revoke: 'signatures' }] };
    const [first] = stage.ended.report.signatures;
    if (first === undefined) throw new Error('no entry');
    const states = [...steps('failed').slice(0, 1), { name: 'witness', state: 'waiting' as const }];
    const make1 = (
      revokedAt: number | undefined,
      of: object = given,
      outcome = 'failed' as const,
    ) =>
      make({ outcome, steps: states, signatures: [{ ...first, revokedAt }], refusals: [beat] }, of);
    const good = await make1(now + 3 * minute);
    expect(await problemsIn(good, { definition: given })).toEqual([]);
    expect(await verifyEvidence(good, { serviceRoots: await stage.custody.trust() })).toMatchObject(
      {
        evidence: { signatures: [{ revokedAt: new Date(now + 3 * minute).toISOString() }] },
      },
    );
    expect(await problemsIn(await make1(undefined), { definition: given })).toEqual([
      'signatures[0].revokedAt NOT_REVOKED',
    ]);
    expect(await problemsIn(await make1(now + 3 * minute, definition), { definition })).toEqual([
      'signatures[0].revokedAt NOT_REVOKED',
    ]);
    expect(await problemsIn(await make1(first.at - 1), {})).toEqual([
      'signatures[0].revokedAt OUT_OF_ORDER',
    ]);
    const completed = await make({ signatures: [{ ...first, revokedAt: first.at }] });
    expect(await problemsIn(completed, {})).toContain('signatures[0].revokedAt NOT_FAILED');
  });

  it('uses the one key of the service, whoever asks first', async () => {
    const store = newCustody();
    const keys = await Promise.all([store.evidenceKey(), store.evidenceKey()]);
    expect(keys[0]).toEqual(keys[1]);
    expect(await store.trust()).toEqual([keys[0].certificates[1]]);
  });
});

describe('verifyEvidence', () => {
  it.each([[[]], [''], ['no PEM'], [[Buffer.of(1)]]])(
    'throws for roots that are %j',
    async (roots) => {
      await expect(verifyEvidence(stage.evidence, { serviceRoots: roots })).rejects.toThrow(
        new TypeError(
          'serviceRoots: at least one certificate, as PEM text or a list of DER, is needed',
        ),
      );
    },
  );

  it('throws for a time that is none', async () => {
    const at = new Date(Number.NaN);
    await expect(verifyEvidence(stage.evidence, { serviceRoots: stage.roots, at })).rejects.toThrow(
      TypeError,
    );
  });
});
