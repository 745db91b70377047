/**
 * What a CMS costs beside the bare signature in it, by kind of key: `npm run bench`.
 *
 * Rounds alternate between the two (A B A B …), so that a machine whose speed drifts drifts for both; the median of the
 * rounds' ratios is what counts. Only ratios mean anything.
 */
import { createSign, randomBytes, sign } from 'node:crypto';
import { promisify } from 'node:util';
import { attachCertificates, signCms } from '../src/pki/cms.ts';
import { createKeyCustody } from '../src/pki/custody.ts';
import { createMemoryCustodyStore } from '../test/support/memory-custody-store.ts';

const rounds = Number(process.env.BENCH_ROUNDS ?? 15);
const content = Buffer.from('Sign in to Example?');
const signInPool = promisify(sign);

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

/** Microseconds for each call, one after the other. */
const timeOf = async (calls: number, call: () => Promise<unknown>): Promise<number> => {
  const start = process.hrtime.bigint();
  for (let done = 0; done < calls; done += 1) await call();
  return Number(process.hrtime.bigint() - start) / calls / 1000;
};

const custody = createKeyCustody({
  store: createMemoryCustodyStore(),
  masterKey: randomBytes(32),
  now: Date.now,
});

const compare = async (algorithm: 'EC' | 'RSA', calls: number) => {
  const key = await custody.userKey({ msisdn: '41700092501', sscdId: 'sim', algorithm, expired: false });
  const bare = (): Promise<unknown> =>
    algorithm === 'EC'
      ? Promise.resolve(createSign('sha256').update(content).sign(key.privateKey))
      : signInPool('sha256', content, key.privateKey);
  const whole = async (): Promise<unknown> =>
    attachCertificates(await signCms({ content, key }), key.chain.certificates);
  await timeOf(calls, bare);
  await timeOf(calls, whole);
  const ratios: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    ratios.push((await timeOf(calls, whole)) / (await timeOf(calls, bare)));
  }
  return { ratio: median(ratios), least: Math.min(...ratios), most: Math.max(...ratios) };
};

for (const [algorithm, calls, goal] of [
  ['EC', 2000, 3],
  ['RSA', 200, 2],
] as const) {
  const { ratio, least, most } = await compare(algorithm, calls);
  const spread = `${least.toFixed(2)} to ${most.toFixed(2)}`;
  console.log(
    `CMS with ${algorithm} / bare signature: ${ratio.toFixed(2)} (${spread}; goal ${goal} or less)`,
  );
}
