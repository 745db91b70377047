/** What /metrics tells of a product that works. */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { productVersion } from '../../src/environment/product-version.ts';
import { testRedis } from '../support/redis.ts';
import { receiptRequest, signRequest, statusRequest } from '../support/requests.ts';
import { type Exposition, readExposition } from './exposition.ts';
import { namedAp, openStage, type Stage } from './stage.ts';

const redis = testRedis();
let stage: Stage;
const scrape = async (): Promise<Exposition> => readExposition(await stage.metrics());

beforeAll(async () => {
  stage = await openStage(redis);
});
afterAll(() => stage.stop());

/** Taken back while nobody had taken it. */
let withdrawn = '';

describe('before a worker runs', () => {
  it('tells what waits and for how long', async () => {
    const { body } = await stage.post(
      '/rest/service/sign',
      signRequest({ apId: namedAp, mode: 'asynch' }),
    );
    withdrawn = body.MSS_SignatureResp.MSSP_TransID;
    await stage.post('/rest/service/sign', signRequest({ mode: 'asynch' }));
    const about = { queue: 'signatures', shard: '0', state: 'waiting' };
    await vi.waitFor(
      async () => {
        const seen = await scrape();
        expect(seen.valueOf('paraph_queue_jobs', about)).toBe(2);
        expect(seen.valueOf('paraph_queue_oldest_age_seconds', about)).toBeGreaterThan(1);
      },
      { timeout: 20_000, interval: 200 },
    );
    const seen = await scrape();
    expect(seen.valueOf('paraph_queue_jobs', { ...about, queue: 'receipts' })).toBe(0);
    expect(await stage.cancel(withdrawn)).toBe('cancelled');
  });
});

describe('with workers', () => {
  beforeAll(() => stage.startWorkers());

  it('counts and logs what was taken back before any step of it', async () => {
    await vi.waitFor(async () => {
      const seen = await scrape();
      const about = { ap: namedAp, state: 'failed', fault: '401' };
      expect(seen.valueOf('paraph_transactions_total', about)).toBe(1);
      expect(seen.valueOf('paraph_transactions_total', { ap: namedAp, state: 'submitted' })).toBe(
        1,
      );
    }, 20_000);
    const lines = stage.logged
      .map((line) => JSON.parse(line))
      .filter(({ msg }) => msg === 'failed');
    expect(lines.filter(({ msspTransId }) => msspTransId === withdrawn)).toMatchObject([
      { attempt: 1, fault: 401, apTransId: expect.any(String) },
    ]);
  });

  it('counts transactions by state, fault and application provider', async () => {
    const signed = await stage.post('/rest/service/sign', signRequest({ apId: namedAp }));
    expect(signed.status).toBe(200);
    await stage.post('/rest/service/sign', signRequest({ apId: namedAp, msisdn: '+41000092401' }));
    await stage.post(
      '/rest/service/receipt',
      receiptRequest(signed.body.MSS_SignatureResp.MSSP_TransID, { apId: namedAp }),
    );
    let seen = await scrape();
    const of = (labels: Record<string, string>): number | undefined =>
      seen.valueOf('paraph_transactions_total', { ap: namedAp, ...labels });
    await vi.waitFor(async () => {
      seen = await scrape();
      expect(of({ state: 'submitted' })).toBe(3);
      expect(of({ state: 'signed' })).toBe(1);
      expect(of({ state: 'failed', fault: '401' })).toBe(2);
      expect(of({ state: 'receipted' })).toBe(1);
    }, 20_000);
    expect(seen.valueOf('paraph_time_to_sign_seconds_count')).toBeGreaterThan(0);
    expect(
      seen.valueOf('paraph_device_duration_seconds_count', { outcome: 'signature' }),
    ).toBeGreaterThan(0);
  });

  it('has one series for all application providers that are not registered', async () => {
    for (let index = 0; index < 30; index += 1) {
      await stage.post(
        '/rest/service/sign',
        signRequest({ apId: `http://stranger-${index}.example` }),
      );
    }
    const seen = await scrape();
    const aps = new Set(
      seen.samples.flatMap(({ name, labels }) =>
        name === 'paraph_transactions_total' ? [labels.ap] : [],
      ),
    );
    expect(aps).toEqual(new Set([namedAp, 'other']));
    expect(JSON.stringify(seen.samples)).not.toContain('stranger');
  });

  it('counts answers and faults by operation', async () => {
    await stage.post('/rest/service/status', statusRequest('H00AAAAAAAAAAAAAAAAA'));
    const seen = await scrape();
    const route = '/rest/service/status';
    expect(seen.valueOf('paraph_http_requests_total', { route, status: '500' })).toBe(1);
    expect(seen.valueOf('paraph_http_faults_total', { route })).toBe(1);
    expect(seen.valueOf('paraph_http_request_duration_seconds_count', { route })).toBe(1);
  });

  it('has one series for all addresses that there are not', async () => {
    for (let index = 0; index < 20; index += 1) await stage.get(`/nowhere-${index}/${index}`);
    for (let index = 0; index < 20; index += 1)
      await stage.get(`/oidc/t/tenant-${index}/x-${index}`);
    const seen = await scrape();
    expect(seen.valueOf('paraph_http_requests_total', { route: 'other', status: '404' })).toBe(20);
    expect(seen.valueOf('paraph_http_requests_total', { route: '/oidc/*', status: '404' })).toBe(
      20,
    );
    expect(JSON.stringify(seen.samples)).not.toMatch(/nowhere|tenant-/);
  });

  it('holds no number and no text of anybody', async () => {
    const text = await stage.metrics();
    expect(text).not.toMatch(/4170009|4100009|Sign in to/);
  });

  it('says what runs, and that Redis is there', async () => {
    const seen = await scrape();
    expect(seen.valueOf('paraph_build_info', { version: productVersion() ?? '' })).toBe(1);
    expect(seen.valueOf('paraph_redis_up', { connection: 'commands' })).toBe(1);
    expect(seen.valueOf('paraph_redis_up', { connection: 'blocking' })).toBe(1);
    expect(
      seen.valueOf('paraph_redis_command_duration_seconds_count', { connection: 'commands' }),
    ).toBeGreaterThan(0);
    expect(seen.types.get('paraph_nodejs_eventloop_lag_seconds')).toBe('gauge');
  });

  it('writes the application’s own id into every line of a step', async () => {
    const request = signRequest({ msisdn: '+41000092401' });
    await stage.post('/rest/service/sign', request);
    // The worker writes its line when it has heard that its end is stored, and the caller may have
    // heard it first.
    await vi.waitFor(() => {
      const lines = stage.logged.filter((line) =>
        line.includes(request.MSS_SignatureReq.AP_Info.AP_TransID),
      );
      expect(lines.map((line) => JSON.parse(line).msg).toSorted()).toEqual(['answered', 'failed']);
    }, 20_000);
  });
});
