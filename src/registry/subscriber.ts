import { z } from 'zod';
import { isFaultCode } from '../../packages/protocol/src/fault.ts';
import { e164 } from '../../packages/protocol/src/schemas/common.ts';
import { amount, type DeepReadonly, flag, section } from './entry.ts';
import { findOverlaps } from './number-ranges.ts';

/**
 * A subscriber: one mobile number, its signing devices, and facts about its subscription. An
 * element of `subscribers` is a number or a range of equal numbers. The defaults describe a working
 * robot, so `{ "msisdn": "…", "sim": {} }` can sign. A number without SIM and Apps is known but
 * cannot sign.
 *
 * Source: interface section 2.4.
 */
const number = z
  .string()
  .regex(e164, {
    // Later checks compare numbers.
    error: 'must be an E.164 number: 7 to 15 digits, with or without a plus',
    abort: true,
  })
  .transform((written) => written.replace('+', ''));

const faultCode = z
  .int()
  .refine(isFaultCode, { error: 'must be a code of the fault table' })
  .describe('Code of the fault with which it ends.');

const simulatedSign = z.union(
  [z.enum(['signs', 'never-answers']), z.strictObject({ fault: faultCode })],
  {
    error: 'must be "signs", "never-answers" or {"fault": code}',
  },
);

/** A device of a part. One with `upstream`, the name of a service, is at that service. */
export type PartDeviceSchema =
  | z.ZodObject<{ readonly kind: z.ZodLiteral<string> }, z.core.$strict>
  | z.ZodObject<
      { readonly kind: z.ZodLiteral<string>; readonly upstream: z.ZodString },
      z.core.$strict
    >;

const devicesHere = [
  z.strictObject({
    kind: z.literal('robot').describe('Signs by itself.'),
    thinkSeconds: amount(0, 300, 0).describe(
      'How long it takes to sign; any number of requests at a time.',
    ),
  }),
  z.strictObject({
    kind: z.literal('simulated').describe('A person with one screen.'),
    sign: simulatedSign.default('signs').describe('What becomes of a signature request.'),
    receipt: z
      .enum(['accepts', 'cancels', 'ignores', 'never-answers'])
      .default('accepts')
      .describe('What the person does with a receipt.'),
  }),
] as const;

/** A signing device. Its states are facts about the subscription, not about one request. */
const sscdOf = (ofParts: readonly PartDeviceSchema[]) =>
  z
    .strictObject({
      state: z
        .enum(['ACTIVE', 'INACTIVE', 'REGISTERED'])
        .default('ACTIVE')
        .describe('Of the device.'),
      suspended: flag(false, 'Whether the operator has suspended it (fault 403).'),
      pin: section({
        blocked: flag(false, 'Whether the PIN is blocked (fault 402).'),
      }).describe('The PIN of the device.'),
      certificate: section({
        algorithm: z
          .enum(['EC', 'RSA'])
          .default('EC')
          .describe('Of the key: EC is P-256, RSA has 2048 bits.'),
        state: z.enum(['ACTIVE', 'INACTIVE']).default('ACTIVE').describe('Of the certificate.'),
        expired: flag(false, 'Whether its three years are over (fault 422).'),
      }).describe('The key of the device and its certificate.'),
      device: z
        .discriminatedUnion('kind', [...devicesHere, ...ofParts])
        .prefault({ kind: 'robot' })
        .describe(
          'What answers: a robot, one simulated person with one screen, or a device of another kind.',
        ),
    })
    .transform(({ pin, certificate, ...rest }) => ({
      ...rest,
      pinBlocked: pin.blocked,
      algorithm: certificate.algorithm,
      certificateState: certificate.state,
      certificateExpired: certificate.expired,
    }));

/** The service at which a device is; undefined for one that is here. */
export const upstreamOf = ({ device: spec }: Pick<Sscd, 'device'>): string | undefined =>
  'upstream' in spec ? spec.upstream : undefined;

type ReadSscd = z.output<ReturnType<typeof sscdOf>>;

export type Sscd = DeepReadonly<ReadSscd> & {
  readonly kind: 'sim' | 'app';
  /** Unique within the subscriber, stable for the life of its key: `sim`, `app-0`, `app-1` … */
  readonly id: string;
  /**
   * Ids of its chains of certificates, where the person has the key. Undefined where the custody has
   * it.
   */
  readonly certificates?: readonly string[] | undefined;
};
const named = (kind: Sscd['kind'], id: string, rest: ReadSscd): Sscd => ({ ...rest, kind, id });

/** Selects the implementation of the signing-device port. */
export type DeviceSpec = Sscd['device'];
export type SimulatedPerson = Extract<DeviceSpec, { kind: 'simulated' }>;
type SimulatedDevice = SimulatedPerson | Extract<DeviceSpec, { kind: 'robot' }>;

/** A device that is simulated here; all others are of parts. */
export const isSimulated = (spec: DeviceSpec): spec is SimulatedDevice =>
  devicesHere.some(({ shape }) => shape.kind.value === spec.kind);

const geofencingErrorCodes = [100, 101, 102, 103, 104, 105, 106, 120, 121, 122, 123, 200, 201].map(
  String,
);

const confidence = (what: string) => amount(0, 1, 0.9).describe(`Trust in ${what}, 0 to 1.`);

const location = z
  .discriminatedUnion('kind', [
    z.strictObject({
      kind: z.literal('fix').describe('The device was located.'),
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
      kind: z.literal('error').describe('The device was not located.'),
      errorCode: z.enum(geofencingErrorCodes).describe('Why there is no location.'),
      errorMessage: z.string().default('Location is not available').describe('The same in words.'),
    }),
  ])
  .transform(({ kind: _kind, ...rest }) => rest);

export type Location = DeepReadonly<z.output<typeof location>>;

const entryOf = (sscd: ReturnType<typeof sscdOf>) =>
  z
    .strictObject({
      msisdn: number.describe('Mobile number.'),
      through: number
        .optional()
        .describe('Last number of a range of equal subscribers that begins with `msisdn`.'),
      language: z.string().min(2).max(35).optional().describe('Preferred language.'),
      sim: sscd.optional().describe('The SIM, when it can sign.'),
      apps: z.array(sscd).max(10).prefault([]).describe('The Apps that can sign.'),
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
      location: section({
        sim: location.optional().describe('Where the network sees the SIM.'),
        app: location.optional().describe('Where the App says it is.'),
      }).describe(
        'What geofencing reports. A SIM without a fix cannot serve the geofencing profile.',
      ),
      autoActivation: flag(false, 'Shown by the profile operation.'),
      recoveryCodeCreated: flag(false, 'Shown by the profile operation.'),
    })
    .refine(
      ({ msisdn, through = msisdn }) =>
        through.length === msisdn.length && Number(through) >= Number(msisdn),
      { path: ['through'], error: 'must have as many digits as msisdn and not be less' },
    )
    .refine(
      ({ sim, apps }) =>
        new Set([...(sim === undefined ? [] : [sim]), ...apps].map(upstreamOf)).size <= 1,
      {
        path: ['apps'],
        error: 'must all be behind the service of the SIM, or the SIM and they behind none',
        abort: true,
      },
    )
    .transform(({ msisdn, through = msisdn, sim, apps, ...rest }) => ({
      first: msisdn,
      last: through,
      subscriber: {
        ...rest,
        sim: sim && named('sim', 'sim', sim),
        apps: apps.map((app, index) => named('app', `app-${index}`, app)),
      },
    }));

/** A range of equal subscribers; `first` and `last` are digits without plus. */
export type SubscriberTemplate = DeepReadonly<z.output<ReturnType<typeof entryOf>>>;

export type Subscriber = SubscriberTemplate['subscriber'] & {
  /** Digits without plus. */
  readonly msisdn: string;
  /** A test number that answers every operation with this fault. */
  readonly alwaysFaults?: { readonly code: number; readonly detail?: string } | undefined;
};

/** The service at which all devices of a subscriber are; undefined when they are here. */
export const commonUpstreamOf = ({
  sim,
  apps,
}: Pick<Subscriber, 'sim' | 'apps'>): string | undefined => {
  const [any = sim] = apps;
  return any && upstreamOf(any);
};

export interface SubscriberRegistry {
  /**
   * At once for those of the configuration, and later for those of whom a part keeps something.
   *
   * @param msisdn Digits without plus.
   * @throws When Redis is unreachable.
   */
  find(msisdn: string): Subscriber | undefined | Promise<Subscriber | undefined>;
  /** Whether the number is a user of the sandbox. */
  isTestNumber(msisdn: string): boolean;
}

/** The subscribers of the configuration and the sandbox. */
export interface ConfiguredSubscribers extends SubscriberRegistry {
  find(msisdn: string): Subscriber | undefined;
}

/**
 * Finds a number with what a part keeps of it.
 *
 * @param known What is known of the number without the part.
 * @throws When Redis is unreachable.
 */
export type CompleteSubscriber = (
  msisdn: string,
  known: Subscriber | undefined,
) => Subscriber | undefined | Promise<Subscriber | undefined>;

/**
 * No number may belong to two elements.
 *
 * @param ofParts Kinds of devices of parts.
 */
export const subscriberList = (ofParts: readonly PartDeviceSchema[] = []) =>
  z.array(entryOf(sscdOf(ofParts))).superRefine((templates, context) => {
    for (const [one, other] of findOverlaps(templates)) {
      const message = `overlaps subscribers[${one}]`;
      context.addIssue({ code: 'custom', path: [other, 'msisdn'], message });
    }
  });
