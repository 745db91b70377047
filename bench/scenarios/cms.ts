/**
 * What a CMS costs beside the bare signature in it, by kind of key. In this process, without Redis.
 */
import { createSign, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { promisify } from 'node:util';
import { attachCertificates, signCms } from '../../packages/pki/src/cms.ts';
import { createKeyCustody } from '../../packages/pki/src/custody.ts';
import { createMemoryCustodyStore } from '../../test/support/memory-custody-store.ts';
import { interleave } from '../harness/rounds.ts';
import type { Ratio, Scenario } from '../harness/scenario.ts';
import { median, ratioOf, roundRatios } from '../harness/statistics.ts';

const content = Buffer.from('Sign in to Example?');
const signInPool = promisify(sign);

const kinds = [
  { name: 'cms', algorithm: 'EC', calls: 2000, key: 'P-256', atMost: 3 },
  { name: 'cmsRsa', algorithm: 'RSA', calls: 200, key: 'RSA-2048', atMost: 2 },
] as const;

const bareKeys = {
  EC: generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey,
  RSA: generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey,
};

/** Microseconds for each call, one after the other. */
const timeOf = async (calls: number, call: () => Promise<unknown>): Promise<number> => {
  const begin = performance.now();
  for (let done = 0; done < calls; done += 1) await call();
  return ((performance.now() - begin) / calls) * 1000;
};

export const cms: Scenario = {
  name: 'cms',
  title: 'A CMS beside the bare signature in it',
  run: async ({ small }) => {
    const custody = createKeyCustody({
      store: createMemoryCustodyStore(),
      serviceKey: randomBytes(32),
      now: Date.now,
    });
    const ratios: Ratio[] = [];
    const rows: (string | number)[][] = [];
    for (const { name, algorithm, calls, key: keyName, atMost } of kinds) {
      const key = await custody.userKey({
        msisdn: '41700092501',
        sscdId: 'sim',
        algorithm,
        expired: false,
      });
      const bare = async (): Promise<unknown> =>
        algorithm === 'EC'
          ? createSign('sha256').update(content).sign(bareKeys.EC)
          : signInPool('sha256', content, bareKeys.RSA);
      const whole = async (): Promise<unknown> =>
        attachCertificates(await signCms({ content, key }), key.chain.certificates);
      const micros = await interleave(small ? 7 : 15, {
        whole: () => timeOf(calls, whole),
        bare: () => timeOf(calls, bare),
      });
      ratios.push(
        ratioOf(
          {
            name,
            divides: `time of a CMS with ${keyName} / of the bare signature`,
            goal: { atMost },
          },
          roundRatios(micros.whole, micros.bare),
        ),
      );
      rows.push([keyName, median(micros.whole), median(micros.bare)]);
    }
    return {
      ratios,
      tables: [
        {
          title: 'One after the other, one core',
          columns: ['key', 'CMS µs', 'bare signature µs'],
          rows,
        },
      ],
      plots: [],
    };
  },
};
