/** A product with phones in browsers, without a socket. */
import { expect } from 'vitest';
import { enrolPhone, type ScriptedPhone } from '../../../test/support/phone.ts';
import { phoneAdminOf } from '../../../test/support/phone-admin.ts';
import {
  startTestProduct,
  type TestProduct,
  type TestProductOptions,
} from '../../../test/support/product.ts';
import type { TestRedis } from '../../../test/support/redis.ts';
import { soon } from '../../../test/support/soon.ts';

export { soon };

export const origin = 'http://test';

let numbers = 41_790_100_000;
/** That no other test uses. */
export const newNumber = (): string => `+${++numbers}`;

export interface PhoneStage {
  readonly product: TestProduct;
  /** @returns The link of an invitation. */
  invite(msisdn: string): Promise<string>;
  enrol(msisdn: string, options?: Parameters<typeof enrolPhone>[2]): Promise<ScriptedPhone>;
  enrolBy(link: string, options?: Parameters<typeof enrolPhone>[2]): Promise<ScriptedPhone>;
  ended(id: string, as: string): Promise<void>;
}

export const startPhoneStage = async (
  redis: TestRedis,
  options: TestProductOptions = {},
): Promise<PhoneStage> => {
  const product = await startTestProduct(redis, options);
  const send = (request: Request) => product.api.fetch(request);
  const invite: PhoneStage['invite'] = async (msisdn) => {
    const invited = await phoneAdminOf(product).invite(msisdn.slice(1));
    if (invited.kind !== 'invited') throw new Error(invited.kind);
    return invited.link;
  };
  const enrolBy: PhoneStage['enrolBy'] = (link, more) =>
    enrolPhone({ base: origin, send }, link, more);
  return {
    product,
    invite,
    enrolBy,
    enrol: async (msisdn, more) => enrolBy(await invite(msisdn), more),
    ended: (id, as) => soon(async () => expect(await product.statusOf(id)).toBe(as)),
  };
};
