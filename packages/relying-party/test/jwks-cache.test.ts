import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { until } from '../../../test/support/soon.ts';
import { createJwksCache, type JwksCache, type JwksCacheOptions } from '../src/index.ts';
import { keys, publicJwk } from './forge.ts';
import { answerJson, type KeyServer, startKeyServer } from './key-server.ts';

const setOf = (...kids: readonly string[]) => ({
  keys: kids.map((kid) => publicJwk(keys.p256.publicKey, kid)),
});

let server: KeyServer;
let clockMs = 0;

beforeEach(async () => {
  clockMs = 1_800_000_000_000;
  server = await startKeyServer(answerJson(setOf('first')));
});
afterEach(() => server.stop());

const createCache = (options: Partial<JwksCacheOptions> = {}): JwksCache =>
  createJwksCache({ jwksUri: `${server.url}/jwks.json`, now: () => clockMs, ...options });

/** The reason, or `found`. */
const look = async (cache: JwksCache, kid: string, algorithm = 'ES256'): Promise<string> => {
  const found = await cache.find(kid, algorithm);
  return found.ok ? 'found' : found.reason;
};

describe('the key cache', () => {
  it('fetches nothing before the first token, and once for all that follow', async () => {
    const cache = createCache();
    expect(server.fetches).toBe(0);
    for (let token = 0; token < 20; token += 1) expect(await look(cache, 'first')).toBe('found');
    expect(server.fetches).toBe(1);
  });

  it('fetches once for all who ask at the same time', async () => {
    const cache = createCache();
    const found = await Promise.all(Array.from({ length: 100 }, () => look(cache, 'first')));
    expect(new Set(found)).toEqual(new Set(['found']));
    expect(server.fetches).toBe(1);
  });

  it('fetches once for all who ask at the same time, also without a cool-down', async () => {
    const cache = createCache({ cooldownMs: 0 });
    await Promise.all(Array.from({ length: 100 }, (_, index) => look(cache, `unknown-${index}`)));
    expect(server.fetches).toBe(1);
    await look(cache, 'unknown');
    expect(server.fetches).toBe(2);
  });

  it('makes no more than one fetch in each cool-down of a flood of unknown kids', async () => {
    const cache = createCache({ cooldownMs: 5000 });
    await look(cache, 'first');
    // 30 seconds of 100 tokens a second: some at once, some one after the other.
    for (let tick = 0; tick < 300; tick += 1) {
      clockMs += 100;
      const flood = Array.from({ length: 10 }, (_, index) =>
        look(cache, `unknown-${tick}-${index}`),
      );
      expect(new Set(await Promise.all(flood))).toEqual(new Set(['key-unknown']));
    }
    expect(server.fetches).toBe(1 + 6);
  });

  it('sees a rotated key once the cool-down is over, also in a flood', async () => {
    const cache = createCache({ cooldownMs: 5000 });
    await look(cache, 'first');
    clockMs += 1000;
    server.answer(answerJson(setOf('first', 'second')));
    expect(await look(cache, 'second')).toBe('key-unknown');
    await Promise.all(Array.from({ length: 50 }, (_, index) => look(cache, `unknown-${index}`)));
    clockMs += 3999;
    expect(await look(cache, 'second')).toBe('key-unknown');
    clockMs += 1;
    expect(await look(cache, 'second')).toBe('found');
    expect(await look(cache, 'first')).toBe('found');
    expect(server.fetches).toBe(2);
  });

  it('sees a rotated key at once when nothing was fetched lately', async () => {
    const cache = createCache();
    await look(cache, 'first');
    clockMs += 60_000;
    server.answer(answerJson(setOf('second')));
    expect(await look(cache, 'second')).toBe('found');
    expect(await look(cache, 'first')).toBe('key-unknown');
  });

  it('keeps the old keys when a refresh fails', async () => {
    const cache = createCache({ cooldownMs: 5000, maxAgeMs: 60_000 });
    await look(cache, 'first');
    server.answer((_, response) => response.writeHead(503).end());
    clockMs += 10_000;
    expect(await look(cache, 'second')).toBe('keys-unavailable');
    expect(await look(cache, 'first')).toBe('found');
    clockMs += 3_600_000;
    expect(await look(cache, 'first')).toBe('found');
    expect(server.fetches).toBe(3);
  });

  it('does not ask a provider that fails more often than one that works', async () => {
    server.answer((_, response) => response.writeHead(500).end());
    const cache = createCache({ cooldownMs: 5000 });
    for (let tick = 0; tick < 100; tick += 1) {
      expect(await look(cache, 'first')).toBe('keys-unavailable');
      clockMs += 100;
    }
    expect(server.fetches).toBe(2);
    server.answer(answerJson(setOf('first')));
    expect(await look(cache, 'first')).toBe('found');
  });

  it('uses a set that is old and refreshes it in the background', async () => {
    const cache = createCache({ maxAgeMs: 60_000, cooldownMs: 1000 });
    await look(cache, 'first');
    clockMs += 60_000;
    let release = (): void => {};
    server.answer((request, response) => {
      release = () => answerJson(setOf('second'))(request, response);
    });
    expect(await look(cache, 'first')).toBe('found');
    await until(() => server.fetches === 2);
    expect(await look(cache, 'first')).toBe('found');
    release();
    await until(async () => (await look(cache, 'first')) === 'key-unknown');
    expect(await look(cache, 'second')).toBe('found');
    expect(server.fetches).toBe(2);
  });

  it('accepts no withdrawn key after a quiet time', async () => {
    const cache = createCache({ maxAgeMs: 60_000 });
    await look(cache, 'first');
    server.answer(answerJson(setOf('second')));
    clockMs += 120_000;
    expect(await look(cache, 'first')).toBe('key-unknown');
  });

  it('goes on when the clock is set back', async () => {
    const cache = createCache();
    await look(cache, 'first');
    server.answer(answerJson(setOf('second')));
    clockMs -= 3_600_000;
    expect(await look(cache, 'second')).toBe('found');
  });

  it('says that a key is there and cannot be used for the algorithm, and fetches nothing for that', async () => {
    const cache = createCache();
    await look(cache, 'first');
    clockMs += 60_000;
    expect(await look(cache, 'first', 'RS256')).toBe('key-unsuitable');
    expect(server.fetches).toBe(1);
  });

  it('passes over what it cannot use among good keys', async () => {
    const { keys: good } = setOf('good');
    const odd = [
      {},
      { kty: 'oct', k: 'AAAA', kid: 'odd' },
      { kty: 'EC', kid: 7 },
      { kty: null, kid: 'odd' },
    ];
    server.answer(answerJson({ keys: [...odd, ...good], more: 1 }));
    const cache = createCache();
    expect(await look(cache, 'good')).toBe('found');
    expect(await look(cache, 'odd')).toBe('key-unknown');
  });
});

describe('the key cache takes no keys', () => {
  const detailOf = async (options: Partial<JwksCacheOptions> = {}): Promise<string> => {
    const found = await createCache(options).find('first', 'ES256');
    expect(found).toMatchObject({ ok: false, reason: 'keys-unavailable' });
    return found.ok ? '' : found.detail;
  };

  it('from where a redirect leads', async () => {
    server.answer((request, response) => {
      if (request.url === '/elsewhere') return answerJson(setOf('first'))(request, response);
      response.writeHead(302, { location: '/elsewhere' }).end();
    });
    expect(await detailOf()).toContain('the status was not 200');
    expect(server.fetches).toBe(1);
  });

  it('from a server that does not answer in time', async () => {
    server.answer(() => {});
    expect(await detailOf({ timeoutMs: 50 })).toContain('it took too long');
  });

  it('from a server that does not finish in time', async () => {
    server.answer((_, response) => response.writeHead(200).write('{"keys":['));
    expect(await detailOf({ timeoutMs: 100 })).toContain('it took too long');
  });

  it('from a server that is not there', async () => {
    await server.stop();
    expect(await detailOf()).toContain('there was no answer');
  });

  it('from an answer that breaks off', async () => {
    server.answer((_, response) => {
      response
        .writeHead(200, { 'content-length': '1000' })
        .write('{"keys":[', () => response.destroy());
    });
    expect(await detailOf()).toContain('there was no answer');
  });

  it('from a huge answer, of which it reads no more than the beginning', async () => {
    let sent = 0;
    let closed = false;
    server.answer((_, response) => {
      const chunk = ' '.repeat(64 * 1024);
      const more = (): void => {
        while (!closed && sent < 1 << 30) {
          sent += chunk.length;
          if (!response.write(chunk)) break;
        }
      };
      response.on('drain', more).on('close', () => {
        closed = true;
      });
      more();
    });
    expect(await detailOf()).toContain('it was too large');
    await until(() => closed);
    expect(sent).toBeLessThan(1 << 26);
  });

  it.each([
    ['a page', '<html></html>'],
    ['nothing', ''],
    ['a list', '[]'],
    ['null', 'null'],
    ['an object without keys', '{"error":"not_found"}'],
    ['keys that are no list', '{"keys":{}}'],
    ['a list of texts', '{"keys":["first"]}'],
  ])('from an answer that is %s', async (_, body) => {
    server.answer((__, response) => response.end(body));
    expect(await detailOf()).toContain('what came is no key set');
  });

  it('from any address but https, and http on loopback', () => {
    const create = (jwksUri: string) => () => createJwksCache({ jwksUri });
    for (const uri of [
      'http://login.example.com/jwks.json',
      'http://127.0.0.1.example.com/jwks.json',
      'http://localhost.example.com/',
      'ftp://localhost/jwks.json',
      'data:application/json,{"keys":[]}',
      'file:///etc/passwd',
      'https://user:word@login.example.com/jwks.json',
      '/jwks.json',
      '',
    ]) {
      expect(create(uri), uri).toThrow(TypeError);
    }
    for (const uri of [
      'https://login.example.com/jwks.json',
      'http://localhost:1/jwks.json',
      'http://127.1.2.3/jwks.json',
      'http://[::1]:8080/jwks.json',
    ]) {
      expect(create(uri), uri).not.toThrow();
    }
  });

  it('with durations that cannot be meant', () => {
    const create = (options: Partial<JwksCacheOptions>) => () => createCache(options);
    expect(create({ cooldownMs: -1 })).toThrow('cooldownMs');
    expect(create({ timeoutMs: 0 })).toThrow('timeoutMs');
    expect(create({ maxAgeMs: Number.NaN })).toThrow('maxAgeMs');
    expect(create({ timeoutMs: 1e12 })).toThrow('timeoutMs');
  });
});
