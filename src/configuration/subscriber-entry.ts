import { z } from 'zod';
import { isFaultCode } from '../protocol/fault.ts';
import { findOverlaps } from '../registry/number-ranges.ts';
import { geofencingErrorCodes, type Location, type Sscd } from '../registry/subscriber.ts';
import type { SubscriberTemplate } from '../registry/subscribers.ts';

/**
 * One element of `subscribers`: a number, or a range of numbers that are all alike, and the devices that sign for it.
 *
 * The defaults describe a healthy robot, so `{ "msisdn": "…", "sim": {} }` is somebody who signs. A subscriber without
 * a SIM and without Apps is possible too: a number that is known and cannot sign.
 */
const number = z
  .string()
  .regex(/^\+?[1-9]\d{6,14}$/, {
    // What follows compares numbers, which makes no sense of anything else.
    error: 'must be an E.164 number: 7 to 15 digits, with or without a plus',
    abort: true,
  })
  .transform((written) => written.replace('+', ''));

const faultCode = z.int().refine(isFaultCode, { error: 'must be a code of the fault table' });

const simulatedSign = z.union([z.enum(['signs', 'never-answers']), z.strictObject({ fault: faultCode })], {
  error: 'must be "signs", "never-answers" or {"fault": code}',
});

const device = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('robot'),
    thinkSeconds: z
      .number()
      .min(0)
      .max(300)
      .default(0)
      .describe('How long it takes to sign. It serves any number of requests at a time.'),
  }),
  z.strictObject({
    kind: z.literal('simulated'),
    sign: simulatedSign
      .default('signs')
      .describe('What the person does with a signature request: sign, nothing, or end it with a fault.'),
    receipt: z
      .enum(['accepts', 'cancels', 'ignores', 'never-answers'])
      .default('accepts')
      .describe('What the person does with a receipt.'),
  }),
]);

const sscd = z.strictObject({
  state: z.enum(['ACTIVE', 'INACTIVE', 'REGISTERED']).default('ACTIVE').describe('Of the device.'),
  suspended: z.boolean().default(false).describe('Whether the operator has suspended it (fault 403).'),
  pin: z
    .strictObject({ blocked: z.boolean().default(false).describe('Whether the PIN is blocked (fault 402).') })
    .prefault({})
    .describe('The PIN of the device.'),
  certificate: z
    .strictObject({
      algorithm: z.enum(['EC', 'RSA']).default('EC').describe('Of the key: EC is P-256, RSA has 2048 bits.'),
      state: z.enum(['ACTIVE', 'INACTIVE']).default('ACTIVE').describe('Of the certificate.'),
      expired: z.boolean().default(false).describe('Whether its three years are over (fault 422).'),
    })
    .prefault({})
    .describe('The key of the device and its certificate.'),
  device: device
    .prefault({ kind: 'robot' })
    .describe('What answers in place of the hardware: a robot, or one simulated person with one screen.'),
});

const confidence = (what: string) =>
  z.number().min(0).max(1).default(0.9).describe(`Trust in ${what}, 0 to 1.`);

const location = z
  .discriminatedUnion('kind', [
    z.strictObject({
      kind: z.literal('fix'),
      country: z
        .string()
        .regex(/^[A-Z]{2}$/, { error: 'must be two capital letters' })
        .describe('ISO 3166-1 alpha-2.'),
      accuracyMeters: z.number().min(0).default(0).describe('Radius of the uncertainty.'),
      deviceConfidence: confidence('the device'),
      locationConfidence: confidence('the location'),
      ageSeconds: z.number().min(0).default(0).describe('How old the fix is when it is asked for.'),
    }),
    z.strictObject({
      kind: z.literal('error'),
      errorCode: z.enum(geofencingErrorCodes).describe('Why there is no location.'),
      errorMessage: z.string().default('Location is not available').describe('The same in words.'),
    }),
  ])
  .transform(({ kind: _kind, ...rest }): Location => rest);

const toSscd = (kind: Sscd['kind'], id: string, entry: z.output<typeof sscd>): Sscd => ({
  kind,
  id,
  state: entry.state,
  suspended: entry.suspended,
  pinBlocked: entry.pin.blocked,
  algorithm: entry.certificate.algorithm,
  certificateState: entry.certificate.state,
  certificateExpired: entry.certificate.expired,
  device: entry.device,
});

const subscriberEntry = z
  .strictObject({
    msisdn: number.describe('Mobile number.'),
    through: number
      .optional()
      .describe(
        'Last number of a range that begins with `msisdn`; all of them are subscribers like this one.',
      ),
    language: z.string().min(2).max(35).optional().describe('Preferred language.'),
    sim: sscd.optional().describe('The SIM, when it can sign.'),
    apps: z.array(sscd).max(10).default([]).describe('The Apps that can sign.'),
    carrier: z
      .strictObject({
        mcc: z
          .string()
          .regex(/^\d{3}$/, { error: 'must be three digits' })
          .default('000')
          .describe('Mobile country code.'),
        mnc: z
          .string()
          .regex(/^\d{2,3}$/, { error: 'must be two or three digits' })
          .default('00')
          .describe('Mobile network code.'),
        network: z.string().default('Unknown network').describe('Name of the network.'),
      })
      .optional()
      .describe('Whose network the SIM is in.'),
    location: z
      .strictObject({
        sim: location.optional().describe('Where the network sees the SIM.'),
        app: location.optional().describe('Where the App says it is.'),
      })
      .prefault({})
      .describe('What geofencing reports. A SIM without a fix cannot serve the geofencing profile.'),
    autoActivation: z.boolean().default(false).describe('Shown by the profile operation.'),
    recoveryCodeCreated: z.boolean().default(false).describe('Shown by the profile operation.'),
  })
  .refine(
    ({ msisdn, through = msisdn }) => through.length === msisdn.length && Number(through) >= Number(msisdn),
    { path: ['through'], error: 'must have as many digits as msisdn and not be less' },
  )
  .transform(
    (entry): SubscriberTemplate => ({
      first: entry.msisdn,
      last: entry.through ?? entry.msisdn,
      subscriber: {
        language: entry.language,
        sim: entry.sim && toSscd('sim', 'sim', entry.sim),
        apps: entry.apps.map((app, index) => toSscd('app', `app-${index}`, app)),
        carrier: entry.carrier,
        location: { sim: entry.location.sim, app: entry.location.app },
        autoActivation: entry.autoActivation,
        recoveryCodeCreated: entry.recoveryCodeCreated,
        alwaysFaults: undefined,
      },
    }),
  );

/** The list; no number may belong to two elements, because neither could claim it. */
export const subscriberList = z.array(subscriberEntry).superRefine((templates, context) => {
  for (const {
    indexes: [one, other],
  } of findOverlaps(templates)) {
    const message = `overlaps subscribers[${one}]`;
    context.addIssue({ code: 'custom', path: [other, 'msisdn'], message });
  }
});
