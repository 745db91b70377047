/**
 * The queue board: what it shows to whom, that nothing of it changes a job, and that it loads
 * nothing from outside.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testRedis } from '../support/redis.ts';
import { receiptRequest, signRequest } from '../support/requests.ts';
import { soon } from '../support/soon.ts';
import { type ApiStage, roles, startApiStage } from './api-stage.ts';

const redis = testRedis();
let stage: ApiStage;

beforeAll(async () => {
  stage = await startApiStage(redis);
});
afterAll(async () => {
  await stage.close();
  expect(stage.troubles).toEqual([]);
});

const asks = (who: (typeof roles)[number], method: string, path: string, headers: object = {}) =>
  stage.fetch(`/admin/queues${path}`, {
    method,
    headers: { cookie: stage.cookies[who], ...headers },
  });

it('is found with a slash at the end of its address, too', async () => {
  const answer = await asks('viewer', 'GET', '/?jobsPerPage=20');
  expect([answer.status, answer.headers.get('location')]).toEqual([
    302,
    '/admin/queues?jobsPerPage=20',
  ]);
});

it('has the way back to the console above it, and colours and names of our own', async () => {
  const page = await (await asks('viewer', 'GET', '/queue/0-signatures')).text();
  expect(page).toMatch(/<body[^>]*><section class="paraph" aria-label="Paraph"><a href="\/admin">/);
  const files = page.match(/\/admin\/assets\/board\.(?:css|js)\?v=[\w-]+/g) ?? [];
  expect(files).toHaveLength(2);
  for (const file of files)
    expect((await stage.fetch(file, { headers: { cookie: stage.cookies.viewer } })).status).toBe(
      200,
    );
});

const secretText = 'Pay 4711 to Zacharias?';
/** Of a signature or a certificate; lines of our own code. */
const bytes = /"cms"|MII[A-Za-z0-9+/]{20}|stacktrace":\["/;

const require = createRequire(import.meta.url);
const { appRoutes } = require('@bull-board/api/dist/routes.js') as {
  appRoutes: { api: readonly { method: string; route: string }[] };
};

const read = async (who: (typeof roles)[number], path: string): Promise<string> =>
  (await asks(who, 'GET', path)).text();

const queuesOf = async (who: (typeof roles)[number]): Promise<readonly string[]> => {
  const { queues } = JSON.parse(await read(who, '/api/queues')) as { queues: { name: string }[] };
  return queues.map(({ name }) => name);
};

/** Every list that the board gives to a reader. */
const lists = async (who: (typeof roles)[number]): Promise<string> => {
  const texts: string[] = [];
  for (const name of await queuesOf(who)) {
    for (const status of ['latest', 'active', 'waiting', 'completed', 'failed', 'delayed']) {
      const query = `activeQueue=${name}&status=${status}&page=1&jobsPerPage=50`;
      texts.push(await read(who, `/api/queues?${query}`));
    }
    texts.push(await read(who, `/queue/${name}`));
  }
  return texts.join('\n');
};

/** Every other answer that it gives, of every queue and of each of these jobs. */
const answersAbout = async (
  who: (typeof roles)[number],
  ids: readonly string[],
): Promise<string> => {
  const texts: string[] = [];
  for (const name of await queuesOf(who)) {
    for (const { method, route } of appRoutes.api) {
      if (method !== 'get') continue;
      for (const id of route.includes(':jobId') ? ids : ids.slice(0, 1)) {
        const path = route.replace(':queueName', name).replace(':jobId', id);
        texts.push(await read(who, `${path}?activeQueue=${name}`));
      }
    }
  }
  return texts.join('\n');
};

describe('what the board shows', () => {
  let ids: readonly string[];
  let looks: () => Promise<readonly string[]>;

  beforeAll(async () => {
    const signed = await stage.product.post(
      '/rest/service/sign',
      signRequest({ text: secretText }),
    );
    const { MSSP_TransID: id } = signed.body.MSS_SignatureResp;
    await stage.product.post('/rest/service/receipt', receiptRequest(id));
    const failed = await stage.failed(401);
    const open = await stage.submit(stage.somebody());
    await soon(async () => expect((await stage.history.find(open))?.state).toBe('pending'));
    ids = [id, `${id}-receipt`, failed, open, 'meta', 'events', 'wait'];
    looks = async () => {
      const page = await stage.audit.read({ action: 'view-sensitive', limit: 1000 });
      return (page?.entries ?? []).map(({ who, target }) => `${who} ${target}`).sort();
    };
  });

  it('names jobs, and holds no number, text, signature or free text in any byte for a viewer', async () => {
    const seen = `${await lists('viewer')}${await answersAbout('viewer', ids)}`;
    expect(seen).toContain('http://test.example · …501');
    expect(seen).toContain('_401 USER_CANCEL');
    expect(seen).not.toMatch(
      /Pay 4711|Zacharias|Signed in to Example|Sign in to Example|User cancelled/,
    );
    expect(seen).not.toMatch(/41700092501|4176\d{7}/);
    expect(seen).not.toMatch(bytes);
    expect(await looks()).toEqual([]);
  });

  it('has numbers and faults for the others in its lists, like the list of the console', async () => {
    for (const who of ['operator', 'admin'] as const) {
      const seen = await lists(who);
      expect(seen).toContain('http://test.example · +41700092501');
      expect(seen).toContain('_401 USER_CANCEL: User cancelled the request');
      expect(seen).not.toMatch(/Pay 4711|Zacharias|Signed in to Example|Sign in to Example/);
      expect(seen).not.toMatch(bytes);
    }
    expect(await looks()).toEqual([]);
  });

  it('opens one with what its page shows, notes once in a session who looked, and never the signature', async () => {
    const [id = '', , failed, open] = ids;
    const seen = await answersAbout('operator', ids);
    expect(seen).toContain(secretText);
    expect(seen).not.toContain('Signed in to Example');
    expect(seen).not.toMatch(bytes);
    expect(await looks()).toEqual([id, failed, open].map((one) => `the-operator ${one}`).sort());
    for (const who of roles) {
      const opened = await read(who, `/api/queues/${Number(id.slice(1, 3))}-signatures/${id}`);
      const page = await stage.ask(who, 'GET', `/admin/api/transactions/${id}`);
      expect(JSON.parse(opened).job.data).toEqual(page.body);
    }
    expect((await looks()).filter((look) => look.endsWith(id))).toEqual([
      `the-admin ${id}`,
      `the-operator ${id}`,
    ]);
  });

  it('says of a signature that is open or has failed where it stands', async () => {
    const [, , failed = '', open = ''] = ids;
    for (const who of roles) {
      const find = async (id: string, status: string) => {
        const queue = `${Number(id.slice(1, 3))}-signatures`;
        const query = `activeQueue=${queue}&status=${status}&page=1&jobsPerPage=50`;
        const { queues } = JSON.parse(await read(who, `/api/queues?${query}`));
        const jobs = queues.flatMap(({ jobs }: { jobs: object[] }) => jobs);
        return jobs.find((job: { id?: string }) => job.id === id);
      };
      expect(await find(open, 'delayed')).toMatchObject({
        data: { transaction: { state: 'pending', attempt: 1 } },
      });
      expect(await find(failed, 'failed')).toMatchObject({
        data: { transaction: { state: 'failed', fault: { code: 401 } } },
      });
    }
  });

  it('names bulk replays by who has ordered how many, without the reason', async () => {
    const order = { ids: [await stage.failed(208)], reason: 'Zacharias has called', perSecond: 1 };
    const { status } = await stage.ask('operator', 'POST', '/admin/api/replays', order);
    expect(status).toBeLessThan(300);
    for (const who of roles) {
      const seen = await lists(who);
      expect(seen).toContain('the-operator · 1 to replay');
      expect(seen).not.toContain('Zacharias');
    }
  });

  it('is for those who are logged in', async () => {
    const page = await stage.fetch('/admin/queues');
    expect([page.status, page.headers.get('location')]).toEqual([
      303,
      '/admin/login?next=%2Fadmin%2Fqueues',
    ]);
    expect((await stage.fetch('/admin/queues/api/queues')).status).toBe(401);
  });

  it('loads nothing from outside', async () => {
    const page = await asks('viewer', 'GET', '');
    expect(page.status).toBe(200);
    const html = await page.text();
    expect(html).not.toMatch(/(?:src|href)="(?:https?:)?\/\//);
    expect(page.headers.get('content-security-policy')).toMatch(
      /default-src 'none'.*script-src 'self';/,
    );
    const files = [...html.matchAll(/(?:src|href)="(static\/[^"]+)"/g)].map(
      ([, path]) => path ?? '',
    );
    expect(files.length).toBeGreaterThan(4);
    for (const path of files)
      expect((await asks('viewer', 'GET', `/${path}`)).status, path).toBe(200);
    const folder = join(require.resolve('@bull-board/ui/package.json'), '../dist/static/css');
    for (const file of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
      if (!file.endsWith('.css')) continue;
      expect(readFileSync(join(folder, file), 'utf8'), file).not.toMatch(
        /(?:url\(|@import )["']?(?:https?:)?\/\//,
      );
    }
  });

  it('has no files but its own', async () => {
    for (const path of [
      '/static/..%2f..%2fpackage.json',
      '/static/../../../package.json',
      '/package.json',
    ]) {
      const answered = await asks('admin', 'GET', path);
      expect(await answered.text(), path).not.toContain('"dependencies"');
    }
  });
});

describe('what the board does', () => {
  const unsafe = appRoutes.api.flatMap(({ method, route }) =>
    method === 'get' ? [] : [[method, route]],
  );

  it('changes nothing, whatever the route and the role', async () => {
    expect(unsafe.length).toBeGreaterThan(20);
    const id = await stage.failed(208);
    const shard = stage.shards.find(({ index }) => id.startsWith(`H0${index}`));
    const key = shard?.signatures.queue.toKey(id) ?? '';
    const before = await stage.product.core.blocking.hgetall(key);
    expect(before).toHaveProperty('data');
    for (const who of roles) {
      for (const [method = '', route = ''] of unsafe) {
        const path = route
          .replace(':queueName', `${shard?.index}-signatures`)
          .replace(':jobId', id);
        const headers = { 'x-csrf-token': stage.csrf[who] };
        const answered = await asks(
          who,
          method.toUpperCase(),
          path.replace(':queueStatus', 'failed'),
          headers,
        );
        const { error } = (await answered.json()) as { error: string };
        expect([answered.status, error], `${who} ${method} ${route}`).toEqual([403, 'forbidden']);
      }
    }
    expect(await stage.product.core.blocking.hgetall(key)).toEqual(before);
  });

  it('has no buttons, leads from each job to the console, and has the clock of the console', async () => {
    const id = await stage.failed(208);
    for (const who of roles) {
      const query = `activeQueue=${Number(id.slice(1, 3))}-signatures&status=failed&page=1&jobsPerPage=50`;
      const { queues } = JSON.parse(await read(who, `/api/queues?${query}`));
      expect(queues.length).toBeGreaterThan(3);
      for (const queue of queues)
        expect(queue).toMatchObject({ readOnlyMode: true, allowRetries: false });
      const jobs = queues.flatMap((queue: { jobs: object[] }) => queue.jobs);
      expect(jobs.find((job: { id?: string }) => job.id === id)).toMatchObject({
        externalUrl: { href: `/admin/transactions/${id}` },
      });
      const [, config = ''] = /type="application\/json">([^<]+)</.exec(await read(who, '')) ?? [];
      const { dateFormats } = JSON.parse(config);
      for (const format of ['short', 'common', 'full']) {
        expect(new Intl.DateTimeFormat('en', dateFormats[format]).format(0)).toMatch(
          /00:00:00 UTC/,
        );
      }
    }
  });
});
