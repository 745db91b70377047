import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { startTestProduct } from '../support/product.ts';
import { testRedis } from '../support/redis.ts';
import { accepted, status } from './wire.ts';
const redis = testRedis();
it('race', async () => {
  const o = { masterKey: randomBytes(32), configuration: { subscribers: [{ msisdn: '41790002000', through: '41790002999', apps: [{ device: { kind: 'simulated', sign: 'never-answers' } }] }] } };
  const ps = [await startTestProduct(redis, o), await startTestProduct(redis, o), await startTestProduct(redis, o)];
  const api = ps[0]!;
  let bad = 0;
  for (let u = 0; u < 25; u++) {
    const msisdn = String(41790002000 + u);
    const ids = await Promise.all(Array.from({ length: 8 }, (_, i) => accepted(ps[i % 3]!, { msisdn })));
    await new Promise((r) => setTimeout(r, 1200));
    const words = await Promise.all(ids.map(async (id) => { const { body } = await status(api, id); return body.Fault?.Reason ?? body.MSS_StatusResp.Status.StatusMessage; }));
    const open = words.filter((w) => w === 'OUTSTANDING_TRANSACTION').length;
    if (open !== 1) { bad++; console.log(u, open, words.join()); }
  }
  console.log('bad', bad);
  for (const p of ps) await p.stop();
  expect(bad).toBe(0);
}, 120000);
