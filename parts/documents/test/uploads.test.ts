/** Uploads over a socket whose clients do not behave. */
import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { basic } from '../../../test/support/caller.ts';
import { type Json, startTestProduct, type TestProduct } from '../../../test/support/product.ts';
import { testRedis } from '../../../test/support/redis.ts';
import { soon } from '../../../test/support/soon.ts';
import { maxDocumentBytes } from '../documents.ts';
import { apId, documentCalls, makePdf } from './stage.ts';

const redis = testRedis();
const data = mkdtempSync(join(tmpdir(), 'uploads-'));
let product: TestProduct;
const { json, call } = documentCalls(() => product);

beforeAll(async () => {
  product = await startTestProduct(redis, {
    workers: false,
    listen: true,
    dataDirectory: data,
    configuration: { http: { requestTimeoutSeconds: 2, headersTimeoutSeconds: 1 } },
  });
});
afterAll(async () => {
  await product.stop();
  rmSync(data, { recursive: true, force: true });
});

const filesIn = (part: 'drafts' | 'files'): readonly string[] => {
  const folder = join(data, 'documents', product.configuration.queue.prefix, part);
  return existsSync(folder)
    ? readdirSync(folder, { recursive: true, withFileTypes: true }).flatMap((entry) =>
        entry.isFile() ? [entry.name] : [],
      )
    : [];
};

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** An upload by hand. */
const open = async (
  headers: Readonly<Record<string, string>>,
): Promise<{ socket: Socket; answer: Promise<string> }> => {
  const { hostname, port } = new URL(product.url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => undefined);
  const answer = new Promise<string>((resolve) => {
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk;
      if (text.includes('}')) resolve(text);
    });
    socket.on('close', () => resolve(text));
  });
  const lines = {
    host: `${hostname}:${port}`,
    authorization: basic(apId),
    'content-type': 'application/pdf',
    ...headers,
  };
  socket.write(
    `POST /documents HTTP/1.1\r\n${Object.entries(lines)
      .map(([name, value]) => `${name}: ${value}\r\n`)
      .join('')}\r\n`,
  );
  return { socket, answer };
};

const nothingIsLeft = (before: readonly string[]) =>
  soon(() => {
    expect(filesIn('drafts')).toEqual([]);
    expect(filesIn('files')).toEqual(before);
  });

describe('an upload', () => {
  it('of 50 MB to the byte is taken, and one byte more is not', async () => {
    const pdf = makePdf('Large', maxDocumentBytes);
    expect(pdf.length).toBe(maxDocumentBytes);
    const headers = { authorization: basic(apId), 'content-type': 'application/pdf' };
    const send = (body: Uint8Array<ArrayBuffer>) =>
      fetch(`${product.url}/documents`, { method: 'POST', headers, body });
    const taken = await send(pdf);
    const shown: Json = await taken.json();
    expect([taken.status, shown.size]).toEqual([201, maxDocumentBytes]);
    const read = await call('GET', `/${shown.id}/content`);
    expect(Buffer.compare(Buffer.from(await read.arrayBuffer()), pdf)).toBe(0);
    const before = filesIn('files');
    const more = new Uint8Array(maxDocumentBytes + 1);
    more.set(pdf);
    expect((await send(more)).status).toBe(413);
    await nothingIsLeft(before);
  });

  it('that its client breaks off in the middle leaves nothing', async () => {
    const before = filesIn('files');
    const { socket } = await open({ 'content-length': '3000000' });
    socket.write(makePdf('Half', 1_500_000));
    await soon(() => expect(filesIn('drafts')).toHaveLength(1));
    socket.destroy();
    await nothingIsLeft(before);
  });

  it('of less than was announced is not taken, whether its end is said or not', async () => {
    const before = filesIn('files');
    const pdf = makePdf('Short', 2000);
    const announced = await open({ 'content-length': '3000' });
    announced.socket.write(pdf);
    announced.socket.end();
    await announced.answer;
    const chunked = await open({ 'transfer-encoding': 'chunked' });
    chunked.socket.write(`${pdf.length.toString(16)}\r\n`);
    chunked.socket.write(pdf);
    chunked.socket.end('\r\n');
    await chunked.answer;
    await nothingIsLeft(before);
  });

  it('in chunks without a length is taken', async () => {
    const pdf = makePdf('Chunked', 2000);
    const { socket, answer } = await open({ 'transfer-encoding': 'chunked' });
    socket.write(`${pdf.length.toString(16)}\r\n`);
    socket.write(pdf);
    socket.write('\r\n0\r\n\r\n');
    expect(await answer).toMatch(/^HTTP\/1.1 201 /);
    socket.destroy();
  });

  it('that pauses for too long gets 408, and leaves nothing', async () => {
    const before = filesIn('files');
    const { socket, answer } = await open({ 'content-length': '3000000' });
    socket.write(makePdf('Slow', 1000));
    expect(await answer).toMatch(/^HTTP\/1.1 408 /);
    socket.destroy();
    await nothingIsLeft(before);
  });

  it('may take longer than other requests while it goes on', async () => {
    // Longer than Node gives a request: two seconds, another, and up to one more.
    const pdf = makePdf('Steady', 1_000_000);
    const { socket, answer } = await open({ 'content-length': String(pdf.length) });
    const parts = 10;
    for (let part = 0; part < parts; part += 1) {
      const size = pdf.length / parts;
      socket.write(pdf.subarray(part * size, (part + 1) * size));
      await pause(500);
    }
    expect(await answer).toMatch(/^HTTP\/1.1 201 /);
    // The same connection has the usual limit again.
    socket.write('GET /livez HTTP/1.1\r\n');
    await expect
      .poll(() => socket.destroyed || socket.readableEnded, { timeout: 20_000 })
      .toBe(true);
  });

  it('without credentials, or of another type, gets its answer although nothing was read', async () => {
    const before = filesIn('files');
    for (const [headers, status] of [
      [{ authorization: 'Basic x' }, 401],
      [{ 'content-type': 'text/plain' }, 415],
    ] as const) {
      const answered = await fetch(`${product.url}/documents`, {
        method: 'POST',
        headers: { authorization: basic(apId), 'content-type': 'application/pdf', ...headers },
        body: new Uint8Array(5_000_000),
      });
      expect(answered.status).toBe(status);
      await answered.arrayBuffer();
    }
    await nothingIsLeft(before);
  });

  it('of the same file at the same time is two documents', async () => {
    const pdf = makePdf('Twice', 600_000);
    const both = await Promise.all([
      json('POST', '', { body: pdf }),
      json('POST', '', { body: pdf }),
    ]);
    expect(both.map(({ status }) => status)).toEqual([201, 201]);
    const [one, other] = both.map(({ body }) => body.id);
    expect(one).not.toBe(other);
    expect((await json('DELETE', `/${one}`)).status).toBe(200);
    const read = await call('GET', `/${other}/content`);
    expect(Buffer.compare(Buffer.from(await read.arrayBuffer()), pdf)).toBe(0);
  });

  it('beyond as many as one application may send at a time is told to come again', async () => {
    const begun = await Promise.all(
      Array.from({ length: 6 }, () => open({ 'content-length': '3000000' })),
    );
    for (const { socket } of begun) socket.write(makePdf('Waits', 1000));
    await soon(() => expect(filesIn('drafts')).toHaveLength(6));
    const refused = await call('POST', '', { body: makePdf('One more') });
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
    expect((await json('POST', '', { body: makePdf('x'), as: 'mid://b.example' })).status).toBe(
      201,
    );
    for (const { socket } of begun) socket.destroy();
    await soon(() => expect(filesIn('drafts')).toEqual([]));
    expect((await json('POST', '', { body: makePdf('Now') })).status).toBe(201);
  });

  it('of random bytes is refused, whatever they are', async () => {
    for (let seed = 0; seed < 20; seed += 1) {
      const body = new Uint8Array(randomBytes(1 + seed * 997));
      const { status } = await json('POST', '', { body });
      expect(status).toBe(422);
      const pdf = makePdf('Random');
      const cut = await json('POST', '', {
        body: pdf.slice(0, Math.ceil((pdf.length * seed) / 20)),
      });
      expect(cut.status).toBe(422);
    }
  });
});
