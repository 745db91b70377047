/** The pages on which a signer reads, as HTTP answers them. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testRedis } from '../../../test/support/redis.ts';
import { createDocumentRecords } from '../records.ts';
import { shortCodeOf } from '../short-code.ts';
import { type ReaderStage, startReaderStage } from './reader-stage.ts';
import { makePages } from './stage.ts';

const redis = testRedis();
let stage: ReaderStage;
beforeAll(async () => {
  stage = await startReaderStage(redis);
});
afterAll(() => stage.product.stop());

const get = (path: string, headers: Readonly<Record<string, string>> = {}) =>
  stage.product.api.fetch(new Request(`http://test${path}`, { headers }));

describe('the page of a signer', () => {
  it('names the document with its pages and code, and leads to where it is read', async () => {
    const { document, path } = await stage.begin('p-1', makePages([['First'], ['Second']]));
    const { body } = await stage.documents.json('GET', `/${document}`);
    const page = await (await get(path)).text();
    expect(page).toContain('<bdi>Lease</bdi>');
    expect(page).toContain(shortCodeOf(body.sha256));
    expect(page).toContain(`href="${path}/documents/1">Read the document</a>`);
  });
});

describe('the page on which a document is read', () => {
  it('shows title, pages and code, is kept by no cache, and has a link without script', async () => {
    const { document, path } = await stage.begin('p-2', makePages([['First'], ['Second']]));
    const { body } = await stage.documents.json('GET', `/${document}`);
    const answer = await get(`${path}/documents/1`, { 'accept-language': 'de' });
    expect(answer.status).toBe(200);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
    });
    const policy = answer.headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
    const page = await answer.text();
    expect(page).toContain('<h1><bdi>Lease</bdi></h1>');
    expect(page).toContain('<dt>Seiten</dt><dd>2</dd>');
    expect(page).toContain(`<code>${body.code}</code>`);
    expect(page).toMatch(/<a href="[^"]+\/documents\/1\/content" download>.*<noscript>/s);
    expect(page).not.toMatch(/(?:src|href)="https?:/);
  });

  it('gives the PDF, and notes once who has opened it', async () => {
    const pdf = makePages([['Only']]);
    const { document, path } = await stage.begin('p-3', pdf);
    const { prefix } = stage.product.configuration.queue;
    const { commands, now } = stage.product.core;
    const records = createDocumentRecords({ redis: commands, prefix, now });
    await get(path);
    await get(`${path}/documents/1`);
    expect(await records.openings(document)).toEqual([]);
    const answer = await get(`${path}/documents/1/content`);
    expect(Buffer.compare(Buffer.from(await answer.arrayBuffer()), pdf)).toBe(0);
    expect(answer.headers.get('content-security-policy')).toContain('sandbox');
    expect(answer.headers.get('content-disposition')).toContain('attachment; filename="Lease.pdf"');
    const first = await records.openings(document);
    expect(first).toEqual([{ by: expect.stringContaining('p-3'), at: expect.any(Number) }]);
    const part = await get(`${path}/documents/1/content`, { range: 'bytes=0-4' });
    expect([part.status, await part.text()]).toEqual([206, '%PDF-']);
    expect(await records.openings(document)).toEqual(first);
  });

  it('is not there by a wrong link, a wrong name, or another content', async () => {
    const { document, path } = await stage.begin('p-4', makePages([['Only']]));
    for (const wrong of [
      `${path}/documents/2`,
      `${path}/documents/2/content`,
      `${path}x/documents/1`,
      `/tasks/guessed/documents/1/content`,
      `${path}/documents/..%2f1`,
    ])
      expect([wrong, (await get(wrong)).status]).toEqual([wrong, 404]);
    const { prefix } = stage.product.configuration.queue;
    const key = `{${prefix}-documents}:document:${document}`;
    const { commands } = stage.product.core;
    const about = JSON.parse((await commands.hget(key, 'about')) ?? '');
    await commands.hset(key, 'about', JSON.stringify({ ...about, sha256: '0'.repeat(64) }));
    for (const at of ['', '/content'])
      expect((await get(`${path}/documents/1${at}`)).status).toBe(404);
  });
});

describe('the files of the reader', () => {
  it('come from this service, packed where the browser unpacks, and for ever by their hash', async () => {
    const { path } = await stage.begin('p-5', makePages([['Only']]));
    const page = await (await get(`${path}/documents/1`)).text();
    const [script = ''] = /\/documents\/assets\/[\w-]+\/reader\.js/.exec(page) ?? [];
    const folder = script.replace('reader.js', '');
    for (const name of [
      'reader.js',
      'reader.css',
      'pdfjs/pdf.min.mjs',
      'pdfjs/pdf.worker.min.mjs',
      'pdfjs/cmaps/UniJIS-UTF16-H.bcmap',
      'pdfjs/standard_fonts/FoxitDingbats.pfb',
      'pdfjs/wasm/openjpeg.wasm',
    ]) {
      const answer = await get(`${folder}${name}`, { 'accept-encoding': 'gzip' });
      expect([name, answer.status]).toEqual([name, 200]);
      expect(answer.headers.get('cache-control')).toContain('immutable');
      const isPacked = !/cmaps|fonts/.test(name);
      expect([name, answer.headers.get('content-encoding')]).toEqual([
        name,
        isPacked ? 'gzip' : null,
      ]);
      expect((await answer.arrayBuffer()).byteLength).toBeGreaterThan(100);
    }
    for (const name of [
      'reader.ts',
      '../package.json',
      'pdfjs/package.json',
      'LiberationSans-Regular.ttf',
    ])
      expect((await get(`${folder}${name}`)).status).toBe(404);
  });
});
