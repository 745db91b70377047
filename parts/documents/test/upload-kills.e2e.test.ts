/**
 * kill -9 at every moment of an upload: what was acknowledged is there as a whole, what was not
 * leads nowhere, and no half file is ever served.
 *
 * The seed chooses the moments: in the middle of the bytes, and around their end, where the file is
 * flushed, checked, renamed and gets its record. DOCUMENT_SEED repeats a run.
 */
import { hash } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { createRandom } from '../../../test/faults/random.ts';
import { basic } from '../../../test/support/caller.ts';
import { killProcesses, type ProductProcess, startProcess } from '../../../test/support/process.ts';
import type { Json } from '../../../test/support/product.ts';
import { testRedis } from '../../../test/support/redis.ts';
import { createDocumentRecords } from '../records.ts';
import { apId, makePdf } from './stage.ts';

const redis = testRedis();
const data = mkdtempSync(join(tmpdir(), 'upload-kills-'));
const prefix = redis.prefix.slice(-32);
const config = join(data, 'paraph.json');
writeFileSync(config, JSON.stringify({ sandbox: true, queue: { prefix } }));
const records = createDocumentRecords({ redis: redis.client(), prefix, now: Date.now });
afterEach(killProcesses);
afterAll(() => rmSync(data, { recursive: true, force: true }));

const authorization = basic(apId);
const environment = { REDIS_URL: redis.url, PARAPH_CONFIG: config, PARAPH_DATA: data };
const kills = 12;
const seed = process.env.DOCUMENT_SEED ?? '1';
const random = createRandom(seed);

/** Sends a PDF, of which this part waits, and the rest goes at once when it is let go. */
const send = (url: string, pdf: Uint8Array, first: number) => {
  let answered: Json;
  const sending = request(`${url}/documents?title=Kill`, {
    method: 'POST',
    headers: {
      authorization,
      'content-type': 'application/pdf',
      'content-length': String(pdf.length),
    },
  });
  const over = new Promise<void>((resolve) => {
    sending.on('error', () => resolve());
    sending.on('close', () => resolve());
    sending.on('response', (response) => {
      const parts: Buffer[] = [];
      response.on('data', (part: Buffer) => parts.push(part));
      response.on('error', () => resolve());
      response.on('end', () => {
        if (response.statusCode === 201) answered = JSON.parse(Buffer.concat(parts).toString());
      });
    });
  });
  sending.write(pdf.subarray(0, first));
  return {
    finish: () => void sending.end(pdf.subarray(first)),
    over,
    /** Undefined where it was not acknowledged. */
    answer: (): Json => answered,
  };
};

const draftsIn = (): readonly string[] => {
  const folder = join(data, 'documents', prefix, 'drafts');
  return existsSync(folder) ? readdirSync(folder) : [];
};

const read = async ({ url }: ProductProcess, id: string): Promise<[number, string]> => {
  const response = await fetch(`${url}/documents/${id}/content`, { headers: { authorization } });
  return [response.status, hash('sha256', new Uint8Array(await response.arrayBuffer()), 'hex')];
};

describe(`an upload that kill -9 meets, seed ${seed}`, () => {
  it('is there as a whole where it was acknowledged, and otherwise not at all', async () => {
    const kept: { readonly id: string; readonly sha256: string }[] = [];
    let process = await startProcess(environment, 'api');
    for (let kill = 0; kill < kills; kill += 1) {
      const pdf = makePdf(`Kill ${kill}`, 2_000_000 + random.below(2_000_000));
      const isAtEnd = kill % 3 !== 0;
      const first = isAtEnd ? pdf.length - 1 : random.below(pdf.length);
      const upload = send(process.url, pdf, first);
      await delay(random.below(40));
      if (isAtEnd) {
        upload.finish();
        // The steps after the last byte take some 20 to 100 ms.
        await delay(random.below(100));
      }
      process.child.kill('SIGKILL');
      await upload.over;
      const answer = upload.answer();
      if (answer !== undefined) {
        expect(answer.sha256).toBe(hash('sha256', pdf, 'hex'));
        kept.push(answer);
      }
      process = await startProcess(environment, 'api');
      for (const { id, sha256 } of kept) expect(await read(process, id)).toEqual([200, sha256]);
      // Records that nobody was told of lead to whole files, too.
      for (const { id, sha256 } of await records.newest(1000))
        expect(await read(process, id)).toEqual([200, sha256]);
    }
    // The service works on with what the kills have left.
    const last = send(process.url, makePdf('After', 3_000_000), 10);
    last.finish();
    await last.over;
    expect(last.answer()).toMatchObject({ title: 'Kill', pages: 1 });
    expect(draftsIn().length).toBeLessThanOrEqual(kills);
    await process.stop();
  }, 300_000);
});
