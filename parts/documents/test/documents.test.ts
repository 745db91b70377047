import { hash } from 'node:crypto';
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { basic } from '../../../test/support/caller.ts';
import { type Json, startTestProduct, type TestProduct } from '../../../test/support/product.ts';
import { testRedis } from '../../../test/support/redis.ts';
import { maxDocumentBytes } from '../documents.ts';
import { shortCodeOf } from '../short-code.ts';
import { documentCalls, makePdf } from './stage.ts';

const redis = testRedis();
const data = mkdtempSync(join(tmpdir(), 'documents-'));
let product: TestProduct;
const { call, json, add } = documentCalls(() => product);

beforeAll(async () => {
  product = await startTestProduct(redis, { workers: false, listen: true, dataDirectory: data });
});
afterAll(async () => {
  await product.stop();
  rmSync(data, { recursive: true, force: true });
});

const filesIn = (folder: string): readonly string[] =>
  existsSync(folder)
    ? readdirSync(folder, { recursive: true, withFileTypes: true }).flatMap((entry) =>
        entry.isFile() ? [join(entry.parentPath, entry.name)] : [],
      )
    : [];
const kept = () => filesIn(join(data, 'documents'));
const fileOf = (id: string): string => {
  const [path = ''] = kept().filter((each) => each.includes(id));
  return path;
};

describe('an uploaded document', () => {
  it('is shown and read by the application that has uploaded it', async () => {
    const bytes = makePdf('A lease', 700_000);
    const added = await call('POST', '?title=Lease%20of%20a%20flat', { body: bytes });
    const shown: Json = await added.json();
    expect(added.status).toBe(201);
    expect(added.headers.get('location')).toBe(`/documents/${shown.id}`);
    const sha256 = hash('sha256', bytes, 'hex');
    expect(shown).toMatchObject({
      id: expect.stringMatching(/^D[0-9a-f]{32}$/),
      title: 'Lease of a flat',
      sha256,
      size: 700_000,
      pages: 1,
      code: shortCodeOf(sha256),
    });
    expect(await json('GET', `/${shown.id}`)).toEqual({ status: 200, body: shown });
    const read = await call('GET', `/${shown.id}/content`);
    expect(Buffer.compare(Buffer.from(await read.arrayBuffer()), bytes)).toBe(0);
    expect(Object.fromEntries(read.headers)).toMatchObject({
      'cache-control': 'no-store',
      'content-disposition': expect.stringContaining('attachment; filename="Lease of a flat.pdf"'),
      'content-length': '700000',
      'content-security-policy': expect.stringContaining('sandbox'),
      'content-type': 'application/pdf',
      'x-content-type-options': 'nosniff',
    });
  });

  it('is read under a title whose last character has two units', async () => {
    const title = `${'a'.repeat(199)}\u{1f600}`;
    const added = await json('POST', `?title=${encodeURIComponent(title)}`, { body: makePdf('A') });
    expect(added).toMatchObject({ status: 201, body: { title } });
    const read = await call('GET', `/${added.body.id}/content`);
    expect(read.status).toBe(200);
    await read.arrayBuffer();
  });

  it('is not opened for who asks for its headers alone', async () => {
    const id = await add(makePdf('A lease', 700_000));
    const open = () =>
      readdirSync('/proc/self/fd').filter((fd) => {
        try {
          return readlinkSync(`/proc/self/fd/${fd}`).includes(id);
        } catch {
          return false;
        }
      });
    const head = await call('HEAD', `/${id}/content`);
    expect([head.status, head.headers.get('content-length')]).toEqual([200, '700000']);
    expect(open()).toEqual([]);
  });

  it('is unknown to other applications', async () => {
    const id = await add(makePdf('Mine'));
    for (const [method, path] of [
      ['GET', `/${id}`],
      ['GET', `/${id}/content`],
      ['DELETE', `/${id}`],
    ] as const)
      expect(await json(method, path, { as: 'mid://other.example' })).toEqual({
        status: 404,
        body: { error: 'not-found', message: 'There is no such document' },
      });
    expect((await json('GET', `/${id}`)).status).toBe(200);
  });

  it('needs the credentials of an application, and nothing is written without', async () => {
    const before = kept();
    const refused = await call('POST', '', {
      body: makePdf('x'),
      headers: { authorization: 'Basic x' },
    });
    expect(refused.status).toBe(401);
    expect(kept()).toEqual(before);
  });

  it('lies in the store encrypted, under a name that says nothing', async () => {
    const bytes = makePdf('Only for the eyes of those who sign');
    const id = await add(bytes);
    const path = fileOf(id);
    const atRest = readFileSync(path);
    expect(atRest.includes('Only for the eyes')).toBe(false);
    expect(atRest.includes('%PDF-')).toBe(false);
    expect(path).not.toContain(hash('sha256', bytes, 'hex'));
  });

  it('goes with its file when it is deleted', async () => {
    const id = await add(makePdf('Short-lived'));
    expect(fileOf(id)).not.toBe('');
    expect(await json('DELETE', `/${id}`)).toEqual({ status: 200, body: { result: 'deleted' } });
    expect(fileOf(id)).toBe('');
    expect((await json('GET', `/${id}`)).status).toBe(404);
    expect((await json('DELETE', `/${id}`)).status).toBe(404);
  });

  it('has the file name of the upload as its title', async () => {
    const titleOf = async (disposition: string) =>
      (
        await json('POST', '', {
          body: makePdf('x'),
          headers: { 'content-disposition': disposition },
        })
      ).body.title;
    expect(await titleOf("attachment; filename*=UTF-8''M%C3%BCller%20%26%20Co.pdf")).toBe(
      'Müller & Co',
    );
    expect(await titleOf('attachment; filename="../../etc/pass\\"wd.pdf"')).toBe('pass"wd');
    expect(await titleOf('attachment')).toBe('Document');
  });

  it('has a title that breaks no header and leaves no folder', async () => {
    const title = 'Über "uns"/../x\r\nSet-Cookie: a=1';
    const { body } = await json('POST', `?title=${encodeURIComponent(title)}`, {
      body: makePdf('x'),
    });
    const read = await call('GET', `/${body.id}/content`);
    expect(read.headers.get('content-disposition')).toBe(
      `attachment; filename="_ber _uns_.._x Set-Cookie_ a_1.pdf"; filename*=UTF-8''%C3%9Cber%20_uns_.._x%20Set-Cookie_%20a%3D1.pdf`,
    );
    expect(read.headers.get('set-cookie')).toBeNull();
    await read.body?.cancel();
  });

  it('is served in ranges', async () => {
    const bytes = makePdf('Long', 700_001);
    const id = await add(bytes);
    const at = async (range: string) => {
      const response = await call('GET', `/${id}/content`, { headers: { range } });
      return [
        response.status,
        response.headers.get('content-range'),
        Buffer.from(await response.arrayBuffer()),
      ] as const;
    };
    for (const [range, from, to] of [
      ['bytes=0-0', 0, 1],
      ['bytes=262143-262144', 262_143, 262_145],
      ['bytes=524288-', 524_288, 700_001],
      ['bytes=-5', 699_996, 700_001],
      ['bytes=10-9999999', 10, 700_001],
    ] as const) {
      const [status, shown, part] = await at(range);
      expect([range, status, shown]).toEqual([range, 206, `bytes ${from}-${to - 1}/700001`]);
      expect(Buffer.compare(part, bytes.subarray(from, to))).toBe(0);
    }
    expect((await at('bytes=700001-'))[0]).toBe(416);
    expect((await at('lines=1-2'))[0]).toBe(200);
  });
});

describe('an upload', () => {
  it.each([
    ['what is no PDF', { body: 'Hello' }, 422],
    ['nothing', { body: '' }, 422],
    ['another type', { body: '{}', headers: { 'content-type': 'application/json' } }, 415],
    ['a compressed one', { body: makePdf('x'), headers: { 'content-encoding': 'gzip' } }, 415],
  ] as const)('of %s is refused, and leaves nothing', async (_, options, status) => {
    const before = kept();
    const refused = await json('POST', '', options);
    expect(refused.status).toBe(status);
    expect(refused.body.message).toEqual(expect.any(String));
    expect(kept()).toEqual(before);
  });

  it('with a title that is too long is refused by the name of the member', async () => {
    const refused = await json('POST', `?title=${'x'.repeat(201)}`, { body: makePdf('x') });
    expect(refused).toEqual({
      status: 400,
      body: { error: 'bad-request', message: 'title must have 1 to 200 characters' },
    });
  });

  it('of more than 50 MB is refused with 413, announced or not, and leaves nothing', async () => {
    const before = kept();
    const headers = { authorization: basic('mid://ap.example'), 'content-type': 'application/pdf' };
    const part = new Uint8Array(1_000_000);
    let sent = 0;
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        controller.enqueue(sent === 0 ? makePdf('x', part.length) : part);
        sent += part.length;
        if (sent >= 52_000_000) controller.close();
      },
    });
    const streamed = await fetch(`${product.url}/documents`, {
      method: 'POST',
      headers,
      body,
      duplex: 'half',
    } as RequestInit);
    const announced = await fetch(`${product.url}/documents`, {
      method: 'POST',
      headers,
      body: new Uint8Array(maxDocumentBytes + 1),
    });
    for (const response of [streamed, announced])
      expect([response.status, ((await response.json()) as Json).error]).toEqual([
        413,
        'too-large',
      ]);
    expect(kept()).toEqual(before);
  });
});

describe('a damaged file', () => {
  it.each([
    ['cut off', (bytes: Buffer) => bytes.subarray(0, -1)],
    ['cut off after a chunk', (bytes: Buffer) => bytes.subarray(0, 80 + 262_160)],
    ['of another place', () => readFileSync(fileOf(other))],
    [
      'without its header',
      (bytes: Buffer) => Buffer.concat([Buffer.alloc(80), bytes.subarray(80)]),
    ],
  ] as const)('that is %s is not served at all', async (_, damage) => {
    other = await add(makePdf('Another', 700_000));
    const id = await add(makePdf('Whole', 700_000));
    writeFileSync(fileOf(id), damage(readFileSync(fileOf(id))));
    expect(await json('GET', `/${id}/content`)).toMatchObject({
      status: 500,
      body: { error: 'damaged' },
    });
  });
  let other = '';

  it('that was changed in the middle breaks the answer there', async () => {
    const id = await add(makePdf('Whole', 700_000));
    const bytes = readFileSync(fileOf(id));
    bytes[500_000] = (bytes[500_000] ?? 0) ^ 1;
    writeFileSync(fileOf(id), bytes);
    const response = await fetch(`${product.url}/documents/${id}/content`, {
      headers: { authorization: basic('mid://ap.example') },
    });
    expect(response.status).toBe(200);
    await expect(response.arrayBuffer()).rejects.toThrow();
  });

  it('that is gone is answered as a store that cannot be reached', async () => {
    const id = await add(makePdf('Gone'));
    rmSync(fileOf(id));
    expect(await json('GET', `/${id}/content`)).toMatchObject({
      status: 503,
      body: { error: 'unavailable' },
    });
  });
});
