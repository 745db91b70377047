/**
 * What other programs may put into the queue, or ask of its board, takes the console from nobody.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testRedis } from '../support/redis.ts';
import { signRequest } from '../support/requests.ts';
import { soon } from '../support/soon.ts';
import { type ConsoleStage, startConsoleStage } from './pages/console-stage.ts';

const redis = testRedis();
let stage: ConsoleStage;

const look = async (path: string) => {
  const response = await fetch(`${stage.url}${path}`, {
    headers: { cookie: stage.cookies.viewer },
  });
  return { status: response.status, text: await response.text() };
};

beforeAll(async () => {
  stage = await startConsoleStage(redis);
});
afterAll(() => stage.close());

describe('a job whose time no clock has written', () => {
  it.each([8.7e15, 253_402_300_800_000, Number.MAX_SAFE_INTEGER])(
    'is listed with the others: %d',
    async (timestamp) => {
      const [shard] = stage.shards;
      const id = `H00${String(timestamp).padStart(17, 'x')}`;
      await shard?.signatures.queue.add('sign', signRequest(), { jobId: id, timestamp });
      await soon(async () => {
        const found = await stage.history.search({ text: id }, { limit: 1 });
        expect(found?.rows).toHaveLength(1);
      });
      for (const path of [
        '/admin/transactions',
        `/admin/transactions/${id}`,
        '/admin/api/transactions',
        '/admin',
      ]) {
        expect(await look(path), path).toMatchObject({ status: 200 });
      }
      expect(
        JSON.parse((await look(`/admin/api/transactions?text=${id}`)).text).rows[0].submittedAt,
      ).toBe(0);
    },
  );
});

describe('the queue board', () => {
  it.each(['101', '1000000', '1e6', '+1000000', ' 1000000', '20&jobsPerPage=1000', ''])(
    'gives no page of jobsPerPage=%s',
    async (many) => {
      const { status, text } = await look(
        `/admin/queues/api/queues?activeQueue=signatures&status=completed&jobsPerPage=${many}`,
      );
      expect(status).toBe(400);
      expect(text).toContain('jobsPerPage must be a number of at most 100');
    },
  );

  it('gives one of a hundred', async () => {
    expect(
      (
        await look(
          '/admin/queues/api/queues?activeQueue=signatures&status=completed&jobsPerPage=100',
        )
      ).status,
    ).toBe(200);
  });

  it('does not pass on the words of what went wrong inside', async () => {
    const { status, text } = await look(
      '/admin/queues/api/queues?activeQueue=%25E0%25A4%25A&jobsPerPage=10',
    );
    expect(status).toBeGreaterThanOrEqual(400);
    expect(text).not.toContain('malformed');
  });
});
