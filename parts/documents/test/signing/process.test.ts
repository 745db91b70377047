/** Processes with documents as applications use them: over HTTP, with real workers and robots. */
import { hash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { usableRoots } from '../../../../packages/pki/src/roots.ts';
import { verifyEvidence } from '../../../../src/app/package/index.ts';
import { callerOf } from '../../../../test/support/caller.ts';
import { type Json, startTestProduct, type TestProduct } from '../../../../test/support/product.ts';
import { testRedis } from '../../../../test/support/redis.ts';
import { verifyPdf } from '../../pdf/index.ts';
import { shortCodeOf } from '../../short-code.ts';
import { readEvidence } from '../../signing/embedded-evidence.ts';
import { apId, documentCalls, makePdf } from '../stage.ts';

const redis = testRedis();
const refusing = '41790000101';
let product: TestProduct;
beforeAll(async () => {
  product = await startTestProduct(redis, {
    configuration: {
      subscribers: [
        {
          msisdn: refusing,
          sim: { device: { kind: 'simulated', sign: { fault: 401 }, receipt: 'accepts' } },
        },
      ],
    },
  });
}, 60_000);
afterAll(() => product.stop());

const { call, until } = callerOf(() => product);
const documents = documentCalls(() => product);
const robot = (name: string, index: number) => ({ name, msisdn: `+4170009250${index}` });

const start = async (id: string, input: object) =>
  call('POST', 'process', { apId, body: { id, input } });
const ended = (id: string): Promise<Json> =>
  until(`process/${id}`, ({ status }) => status !== 'open', apId);
const run = async (id: string, input: object): Promise<Json> => {
  expect(await start(id, input)).toMatchObject({ status: 201 });
  return ended(id);
};
const content = async (id: string): Promise<Buffer> => {
  const response = await documents.call('GET', `/${id}/content`);
  expect(response.status).toBe(200);
  return Buffer.from(await response.arrayBuffer());
};
const rootsPem = async (): Promise<string> =>
  (await product.api.fetch(new Request('http://test/pki/root.pem'))).text();
const judge = async (bytes: Uint8Array) =>
  verifyPdf(bytes, { roots: usableRoots(await rootsPem()) ?? [] });

describe('a process with a document', () => {
  it('ends with one PDF that everybody has signed, each over the signatures before', async () => {
    const pdf = makePdf('Lease of flat 7');
    const document = await documents.add(pdf);
    const input = {
      documents: [{ document }],
      language: 'de',
      steps: [
        { name: 'tenants', text: 'I agree.', signers: [robot('Anna', 1), robot('Beat', 2)] },
        { name: 'owner', signers: [{ ...robot('Carla', 1), language: 'it' }] },
      ],
    };
    const view = await run('lease-7', input);
    expect(view).toMatchObject({ status: 'completed' });
    const sha256 = hash('sha256', pdf, 'hex');
    const [{ signed, ...before }] = view.output.documents;
    const code = shortCodeOf(sha256);
    expect(before).toEqual({
      name: '1',
      document,
      title: 'Lease',
      pages: 1,
      size: pdf.length,
      sha256,
      code,
    });
    expect(view.context.documents).toEqual(view.output.documents);
    expect(signed.signatures.map(({ step, how }: Json) => [step, how])).toEqual([
      ['tenants', 'signed'],
      ['tenants', 'signed'],
      ['owner', 'signed'],
    ]);
    const signers = view.output.steps.flatMap((each: Json) => each.signers);
    for (const signer of signers)
      expect(signer.document).toMatchObject({ name: '1', how: 'signed', level: 'B-LT' });
    expect(signed.hasEvidence).toBe(true);

    const bytes = await content(signed.document);
    expect(hash('sha256', bytes, 'hex')).toBe(signed.sha256);
    expect(Buffer.compare(bytes.subarray(0, pdf.length), pdf)).toBe(0);
    const report = await judge(bytes);
    expect(report.signatures.flatMap(({ reasons }) => reasons)).toEqual([]);
    expect(report).toMatchObject({ ok: true, signatures: Array(4).fill({ level: 'B-LT' }) });
    const embedded = await readEvidence(bytes, usableRoots(await rootsPem()) ?? []);
    expect(embedded).toMatchObject({ record: view.output.evidence, problems: [] });

    const evidence = await verifyEvidence(view.output.evidence, {
      serviceRoots: await rootsPem(),
      definition: input,
    });
    expect(evidence).toMatchObject({
      ok: true,
      evidence: {
        documents: [{ name: '1', document, sha256, code }],
        signatures: [
          { text: `I agree.\nDokument "Lease" (1 Seite), Code ${code}`, document: { name: '1' } },
          { text: `I agree.\nDokument "Lease" (1 Seite), Code ${code}`, document: { name: '1' } },
          { text: `Documento "Lease" (1 pagina), codice ${code}`, document: { how: 'signed' } },
        ],
      },
    });
    const other = { ...input, documents: [{ document, name: 'other' }] };
    expect(
      await verifyEvidence(view.output.evidence, {
        serviceRoots: await rootsPem(),
        definition: other,
      }),
    ).toMatchObject({ ok: false, problems: [{ reason: 'ANOTHER_DEFINITION' }] });
  });

  it('has several documents, each signed in the steps that name it, and seen where it says', async () => {
    const [lease, rules] = await Promise.all(
      ['Lease', 'House rules'].map((text) => documents.add(makePdf(text))),
    );
    const view = await run('two', {
      documents: [
        { document: lease, name: 'lease' },
        { document: rules, name: 'rules' },
      ],
      steps: [
        {
          name: 'lease',
          document: 'lease',
          signers: [
            { ...robot('Änne', 1), field: { page: 1, x: 72, y: 72, width: 200, height: 60 } },
          ],
        },
        { name: 'rules', document: 'rules', signers: [robot('Beat', 2)] },
      ],
    });
    expect(view).toMatchObject({ status: 'completed' });
    const [first, second] = view.output.documents;
    expect(first.signed.document).not.toBe(second.signed.document);
    for (const { signed } of [first, second]) {
      const report = await judge(await content(signed.document));
      expect(report).toMatchObject({ ok: true, signatures: [{ valid: true }, { valid: true }] });
    }
    expect((await content(first.signed.document)).toString('latin1')).toMatch(/\/Rect ?\[72 72/);
  });

  it('signs nothing before somebody has, and keeps what was signed when it fails', async () => {
    const document = await documents.add(makePdf('Refused'));
    const refuser = { name: 'Rolf', msisdn: `+${refusing}` };
    const none = await run('refused-1', {
      documents: [{ document }],
      steps: [{ name: 'one', signers: [refuser] }],
    });
    expect(none).toMatchObject({ status: 'failed', output: { documents: [{ document }] } });
    expect(none.output.documents[0].signed).toBeUndefined();
    const one = await run('refused-2', {
      documents: [{ document }],
      steps: [
        { name: 'one', signers: [robot('Anna', 1)] },
        { name: 'two', signers: [refuser] },
      ],
    });
    expect(one).toMatchObject({ status: 'failed' });
    const { signed } = one.output.documents[0];
    expect(await judge(await content(signed.document))).toMatchObject({
      ok: true,
      signatures: [{ level: 'B-LT' }, { field: 'paraph-evidence' }],
    });
  });

  it('is refused at its start with the place of what is wrong', async () => {
    const document = await documents.add(makePdf('Own'));
    const foreign = await documents.add(makePdf('Foreign'), 'mid://other.example');
    const steps = [{ name: 'one', signers: [robot('Anna', 1)] }];
    const wrong: readonly (readonly [object, string])[] = [
      [{ documents: [{ document: 'D00' }], steps }, 'documents[0].document is not known'],
      [
        {
          documents: [{ document }, { document: foreign, name: 'b' }],
          steps: [{ ...steps[0], document: 'b' }],
        },
        'documents[1].document is not known',
      ],
      [{ documents: [], steps }, 'documents must name a document'],
      [
        { steps: [{ ...steps[0], text: 'x', document: 'a' }] },
        'steps[0].document must be the name of a document of the process',
      ],
      [
        { documents: [{ document }, { document }], steps },
        'steps[0].document must be there: the process has several documents',
      ],
      [
        {
          documents: [
            { document, name: 'a' },
            { document, name: 'a' },
          ],
          steps: [{ ...steps[0], document: 'a' }],
        },
        'documents[1].name must be unique',
      ],
      [
        { documents: [{ document }], text: 'x'.repeat(140), steps },
        'steps[0].signers[0].text may have 139 characters at most, because the text also says what is signed',
      ],
      [
        { steps },
        'steps[0].signers[0].text must be there: neither the step nor the process has a text',
      ],
    ];
    for (const [input, message] of wrong) {
      const { status, body } = await start('wrong', input);
      expect([status, body.message]).toEqual([400, expect.stringContaining(message)]);
    }
  });

  it('fails with its reason when a field is on no page, before anybody is asked', async () => {
    const document = await documents.add(makePdf('One page'));
    const field = { page: 2, x: 0, y: 0, width: 100, height: 40 };
    const view = await run('no-page', {
      documents: [{ document }],
      steps: [{ name: 'one', signers: [{ ...robot('Anna', 1), field }] }],
    });
    expect(view).toMatchObject({
      status: 'failed',
      context: {
        failure: { reason: 'UNUSABLE', text: expect.stringContaining('last page') },
        steps: [{ signers: [{ state: 'waiting' }] }],
      },
    });
  });
});
