/** A product with a process whose document somebody reads. */
import { callerOf } from '../../../test/support/caller.ts';
import { type Json, startTestProduct, type TestProduct } from '../../../test/support/product.ts';
import type { TestRedis } from '../../../test/support/redis.ts';
import { until } from '../../../test/support/soon.ts';
import { apId, documentCalls } from './stage.ts';

/** A SIM that answers never. */
const silent = '41790000311';

export interface ReaderStage {
  readonly product: TestProduct;
  readonly documents: ReturnType<typeof documentCalls>;
  /** @returns The id of the document, and the path of the page of its signer. */
  begin(id: string, pdf: Uint8Array<ArrayBuffer>): Promise<{ document: string; path: string }>;
}

export const startReaderStage = async (redis: TestRedis): Promise<ReaderStage> => {
  const product = await startTestProduct(redis, {
    listen: true,
    configuration: {
      subscribers: [
        { msisdn: silent, sim: { device: { kind: 'simulated', sign: 'never-answers' } } },
      ],
    },
  });
  const documents = documentCalls(() => product);
  const { call } = callerOf(() => product);
  return {
    product,
    documents,
    begin: async (id, pdf) => {
      const document = await documents.add(pdf);
      const signers = [{ name: 'Anna Muster', msisdn: `+${silent}` }];
      const started = await call('POST', 'process', {
        apId,
        body: {
          id,
          input: {
            title: 'Lease of a flat',
            documents: [{ document }],
            steps: [{ name: 'tenant', ask: 'page', signers }],
          },
        },
      });
      if (started.status !== 201) throw new Error(JSON.stringify(started.body));
      const linkIn = (view: Json): string | undefined => view.context?.steps[0]?.signers[0]?.link;
      let link: string | undefined;
      await until(async () => {
        link = linkIn((await call('GET', `process/${id}`, { apId })).body);
        return link !== undefined;
      });
      return { document, path: new URL(link ?? '').pathname };
    },
  };
};
