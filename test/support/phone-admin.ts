/** What operators do with phones in browsers, over a running product. */
import type { PhoneAdmin } from '../../parts/phone/admin.ts';
import type { PhoneShapes } from '../../parts/phone/configuration.ts';
import { openAdmin, revokeWith } from '../../parts/phone/store.ts';
import type { Configuration } from '../../src/app/configuration/schema.ts';
import { settingsOf } from '../../src/app/part-rooms.ts';
import type { PartSettings } from '../../src/part/rooms.ts';
import type { TestProduct } from './product.ts';

/** As the part sees it. */
export const phoneSettingsOf = (configuration: Configuration): PartSettings<PhoneShapes> =>
  settingsOf(configuration) as PartSettings<PhoneShapes>;

export const phoneAdminOf = ({ core, api, url }: TestProduct): PhoneAdmin => {
  const { configuration, configured, commands: redis, serviceKey, now } = core;
  const { admin } = openAdmin({
    settings: phoneSettingsOf(configuration),
    redis,
    prefix: configuration.queue.prefix,
    serviceKey,
    configured,
    now,
    answer: api.transactions.answer,
    publicUrl: () => configuration.publicUrl ?? (url || 'http://test'),
    revoke: revokeWith(core.custodyOver(redis)),
  });
  return admin;
};
