import { createECDH } from 'node:crypto';
import { z } from 'zod';
import { defineConfiguration } from '../../src/part/part.ts';
import { positive, section, whole } from '../../src/registry/entry.ts';
import type { Sscd } from '../../src/registry/subscriber.ts';

const isPair = ({ publicKey, privateKey }: Record<'publicKey' | 'privateKey', string>): boolean => {
  const key = createECDH('prime256v1');
  try {
    key.setPrivateKey(privateKey, 'base64url');
  } catch {
    return false;
  }
  return key.getPublicKey('base64url') === publicKey;
};

const vapid = z
  .strictObject({
    subject: z
      .string()
      .regex(/^(mailto:\S+@\S+|https:\/\/\S+)$/, { error: 'must be a mailto: or https: address' })
      .describe('Whom the operators of push services reach, such as `mailto:ops@example.com`.'),
    publicKey: z.base64url().length(87).describe('VAPID key pair, P-256: the point, base64url.'),
    privateKey: z.base64url().length(43).describe('Its private key, base64url.'),
  })
  .refine(isPair, { error: 'must have the publicKey of its privateKey' });

const phone = section({
  pinTries: whole(1, 10, 5).describe(
    'Wrong PINs in a row that block a phone, until its recovery code is used.',
  ),
  invitationDays: positive(90, 7).describe('How long an invitation is good.'),
  maxPhones: whole(1, 20, 5).describe(
    'Phones of one number. All are asked, and the first answer counts.',
  ),
  push: vapid
    .optional()
    .describe(
      'Wakes phones whose page is closed (Web Push). Without it they show a prompt when they are opened.',
    ),
});

/** The phones in browsers that people have enrolled for the number. */
const device = z.strictObject({ kind: z.literal('phone').describe('The browser of a phone.') });

export const isPhone = ({ device: { kind } }: Pick<Sscd, 'device'>): boolean => kind === 'phone';

export const phoneConfiguration = defineConfiguration({
  shapes: {
    root: {
      phone: phone.describe(
        'Phones in browsers: the devices of an App of the kind `phone`, which people enrol for their number.',
      ),
    },
  },
  devices: [device],
  check: ({ subscribers }, refuse) => {
    for (const [index, { subscriber }] of subscribers.entries()) {
      // An element with another problem has none yet.
      const { sim, apps } = (subscriber as typeof subscriber | undefined) ?? {
        sim: undefined,
        apps: [],
      };
      const phones = apps.filter(isPhone);
      if (sim !== undefined && isPhone(sim)) {
        const expected = 'must be that of a SIM: a phone in the browser is an App';
        refuse(['subscribers', index, 'sim', 'device', 'kind'], expected);
      }
      if (phones.length > 1) {
        const expected =
          'may have one App of the kind phone: it stands for all phones of the number';
        refuse(['subscribers', index, 'apps'], expected);
      }
      if (phones.some(({ algorithm }) => algorithm !== 'EC'))
        refuse(['subscribers', index, 'apps'], 'must have EC keys where they are phones');
    }
  },
});

export type PhoneShapes = (typeof phoneConfiguration)['shapes'];
