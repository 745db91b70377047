import { expect, it } from 'vitest';
import { startTestProduct } from '../support/product.ts';
import { testRedis } from '../support/redis.ts';
import { signRequest, profileRequest } from '../support/requests.ts';
const redis = testRedis();
it('x', async () => {
  let t = Date.now(); const lap = (s: string) => { console.log(s, Date.now() - t); t = Date.now(); };
  const p = await startTestProduct(redis);
  lap('start');
  const a = await p.post('/rest/service/sign', signRequest()); lap('first sign');
  expect(a.status).toBe(200);
  await p.post('/rest/service/sign', signRequest()); lap('second sign');
  await p.post('/rest/service/sign', signRequest({msisdn: '41700092502'})); lap('rsa sign');
  await p.post('/rest/service/profile', profileRequest('41700092509')); lap('profile');
  await p.post('/rest/service/sign', signRequest({msisdn: '41700092507', timeoutSeconds: 1})); lap('208');
  await Promise.all(Array.from({length: 200}, () => p.post('/rest/service/sign', signRequest()))); lap('200');
  await p.stop(); lap('stop');
});
