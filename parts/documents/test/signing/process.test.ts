/** Processes with documents as applications use them: over HTTP, with real workers and robots. */
import { hash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { usableRoots } from '../../../../packages/pki/src/roots.ts';
import { callerOf } from '../../../../test/support/caller.ts';
import { type Json, startTestProduct, type TestProduct } from '../../../../test/support/product.ts';
import { testRedis } from '../../../../test/support/redis.ts';
import { verifyPdf } from '../../pdf/index.ts';
import { shortCodeOf } from '../../short-code.ts';
import { apId, documentCalls, makePdf } from '../stage.ts';

const redis = testRedis();
let product: TestProduct;
beforeAll(async () => {
  product = await startTestProduct(redis, { configuration: {} });
}, 60_000);
afterAll(() => product.stop());

const { call, until } = callerOf(() => product);
const documents = documentCalls(() => product);
const robot = (name: string, index: number) => ({ name, msisdn: `+4170009250${index}` });

const start = async (id: string, input: object) =>
  call('POST', 'process', { apId, body: { id, input } });
const ended = (id: string): Promise<Json> =>
  until(`process/${id}`, ({ status }) => status !== 'open', apId);
const content = async (id: string): Promise<Buffer> => {
  const response = await documents.call('GET', `/${id}/content`);
  expect(response.status).toBe(200);
  return Buffer.from(await response.arrayBuffer());
};

describe('a process with a document', () => {
  it('ends with one PDF that everybody has signed, each over the signatures before', async () => {
    const pdf = makePdf('Lease of flat 7');
    const document = await documents.add(pdf);
    const started = await start('lease-7', {
      documents: [{ document }],
      steps: [
        { name: 'tenants', signers: [robot('Anna', 1), robot('Beat', 2)] },
        { name: 'owner', signers: [robot('Carla', 1)] },
      ],
    });
    expect(started).toMatchObject({ status: 201 });
    const view = await ended('lease-7');
    expect(view).toMatchObject({ status: 'completed' });
    const sha256 = hash('sha256', pdf, 'hex');
    const [{ signed, ...before }] = view.output.documents;
    expect(before).toMatchObject({ name: '1', document, title: 'Lease', sha256 });
    expect(before.code).toBe(shortCodeOf(sha256));
    expect(signed.signatures).toHaveLength(3);
    expect(signed.signatures.map(({ how }: Json) => how)).toEqual(['signed', 'signed', 'signed']);
    const bytes = await content(signed.document);
    expect(hash('sha256', bytes, 'hex')).toBe(signed.sha256);
    expect(Buffer.compare(bytes.subarray(0, pdf.length), pdf)).toBe(0);
    const root = await product.api.fetch(new Request('http://test/pki/root.pem'));
    const roots = usableRoots(await root.text()) ?? [];
    const report = await verifyPdf(bytes, { roots });
    expect(report.signatures.flatMap(({ reasons }) => reasons)).toEqual([]);
    expect(report).toMatchObject({ ok: true, signatures: Array(3).fill({ level: 'B-LT' }) });
    expect(bytes.toString('latin1').match(/\/ByteRange \[/g)).toHaveLength(3);
  });
});
