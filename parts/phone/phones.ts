/**
 * The numbers that people have phones for, and their phones. A number has one hash in Redis: its
 * phones are read in one command, and its counters change in place.
 *
 * | field | holds |
 * |---|---|
 * | `number` | JSON: language, when it was first invited, the invitation that is open |
 * | `phone:<id>` | sealed: what is known of one phone |
 * | `tries:<id>` | wrong PINs in a row |
 * | `entered:<id>` | when the right PIN was entered last, milliseconds since the epoch |
 * | `push:<id>` | sealed: where its browser takes messages |
 */
import { z } from 'zod';
import { createTextSealer, deriveKey } from '../../packages/pki/src/sealed-json.ts';
import type { RedisClient } from '../../src/redis/connect.ts';

const gateSchema = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('pin'),
    /** Base64url, like the next two. Of the browser's PBKDF2. */
    salt: z.string(),
    /** SHA-256 of the verifier. */
    verifierHash: z.string(),
    /** The service's part of the key that wraps the phone's key. */
    share: z.string(),
    /** SHA-256 of the recovery code. */
    recoveryHash: z.string(),
    /**
     * SHA-256 of the recovery code that has set this PIN. Kept until the PIN is entered, because the
     * answer with the new code may have been lost.
     */
    formerRecoveryHash: z.string().optional(),
  }),
  z.object({
    kind: z.literal('passkey'),
    credentialId: z.string(),
    /** Base64url, COSE. */
    publicKey: z.string(),
    counter: z.number(),
    transports: z.array(z.string()).optional(),
  }),
]);
export type Gate = Readonly<z.infer<typeof gateSchema>>;

const phoneSchema = z.object({
  label: z.string(),
  language: z.string(),
  /** Milliseconds since the epoch, like the next one. */
  enrolledAt: z.number(),
  certificateEndsAt: z.number(),
  /** Serial number of the certificate: lower-case hex. */
  serial: z.string(),
  /** Id of its chain of certificates. */
  chain: z.string(),
  /** SHA-256 of the secret in its cookie. */
  secretHash: z.string(),
  gate: gateSchema,
  /** Id of the invitation that has brought it, which ends with it. */
  invitation: z.string().optional(),
});
/** What is stored of a phone. */
export type PhoneRecord = Readonly<z.infer<typeof phoneSchema>>;

export const subscriptionSchema = z.object({
  endpoint: z.url({ protocol: /^https?$/ }).max(2048),
  keys: z.object({ p256dh: z.base64url().max(200), auth: z.base64url().max(100) }),
});
/** A PushSubscription, as browsers write it. */
export type Subscription = Readonly<z.infer<typeof subscriptionSchema>>;

export interface Phone extends PhoneRecord {
  readonly id: string;
  readonly msisdn: string;
  readonly isBlocked: boolean;
  readonly triesLeft: number;
  /** When the right PIN was entered last; 0 for never. */
  readonly enteredAt: number;
  readonly subscription: Subscription | undefined;
}

const numberSchema = z.object({
  language: z.string().optional(),
  since: z.number(),
  /** The newest invitation. Earlier ones are no longer good. */
  invitation: z.object({ id: z.string(), expiresAt: z.number() }).optional(),
});
export type NumberRecord = Readonly<z.infer<typeof numberSchema>>;

export interface PhoneNumber extends NumberRecord {
  readonly msisdn: string;
  /** The oldest first. */
  readonly phones: readonly Phone[];
}

/** KEYS: the number. ARGV: a field that must be there, then fields and values. */
const setWhereScript = `
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then return 0 end
redis.call('HSET', KEYS[1], unpack(ARGV, 2))
return 1`;

/** KEYS: the number. ARGV: a field, the value that it must still have, then fields and values. */
const setUnchangedScript = `
if redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[2] then return 0 end
redis.call('HSET', KEYS[1], unpack(ARGV, 3))
return 1`;

const maxRounds = 20;

/**
 * Judges a PIN and counts it, in one step: no race gives more tries, and a right one never counts.
 * KEYS: the number. ARGV: phone, tries that block it, when a right PIN came (empty for a wrong
 * one).
 * @returns -1: no such phone; 0: right; 1 and more: wrong ones in a row.
 */
const judgeScript = `
local triesField = 'tries:' .. ARGV[1]
if redis.call('HEXISTS', KEYS[1], 'phone:' .. ARGV[1]) == 0 then return -1 end
local tries = tonumber(redis.call('HGET', KEYS[1], triesField) or '0')
if tries >= tonumber(ARGV[2]) then return tries end
if ARGV[3] == '' then return redis.call('HINCRBY', KEYS[1], triesField, 1) end
redis.call('HSET', KEYS[1], triesField, '0', 'entered:' .. ARGV[1], ARGV[3])
return 0`;

/**
 * Most numbers at another service have no record. For these the parser would make an error each
 * time.
 */
const numberIn = (text: string | null | undefined): NumberRecord | undefined => {
  if (text === null || text === undefined) return undefined;
  try {
    return numberSchema.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
};

/** `unknown`: the phone was removed meanwhile. */
export type Judged =
  | { readonly kind: 'right' }
  | { readonly kind: 'blocked' }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'wrong'; readonly triesLeft: number };

export type Phones = ReturnType<typeof createPhones>;

export const createPhones = ({
  redis,
  prefix,
  serviceKey,
  pinTries,
}: {
  readonly redis: RedisClient;
  readonly prefix: string;
  readonly serviceKey: Uint8Array;
  /** Wrong PINs in a row that block a phone. */
  readonly pinTries: number;
}) => {
  const sealer = createTextSealer(deriveKey(serviceKey, 'paraph phones'));
  const keyOf = (msisdn: string): string => `${prefix}:phone:${msisdn}`;
  const placeOf = (msisdn: string, field: string): string => `phone ${msisdn} ${field}`;
  const seal = (msisdn: string, field: string, value: unknown): string =>
    sealer.seal(placeOf(msisdn, field), value);
  const open = (msisdn: string, field: string, sealed: string | undefined): unknown =>
    sealer.open(placeOf(msisdn, field), sealed);

  const recordIn = (msisdn: string, field: string, sealed: string | null | undefined) =>
    phoneSchema.safeParse(open(msisdn, field, sealed ?? undefined)).data;

  const phoneIn = (
    msisdn: string,
    id: string,
    fields: Readonly<Record<string, string>>,
  ): Phone | undefined => {
    const field = `phone:${id}`;
    const data = recordIn(msisdn, field, fields[field]);
    if (data === undefined) return undefined;
    const triesLeft = Math.max(pinTries - Number(fields[`tries:${id}`] ?? 0), 0);
    const pushField = `push:${id}`;
    return {
      ...data,
      id,
      msisdn,
      triesLeft,
      isBlocked: data.gate.kind === 'pin' && triesLeft === 0,
      enteredAt: Number(fields[`entered:${id}`] ?? 0),
      subscription: subscriptionSchema.safeParse(open(msisdn, pushField, fields[pushField])).data,
    };
  };

  /** @returns Undefined for a number that was never invited. */
  const read = async (msisdn: string): Promise<PhoneNumber | undefined> => {
    const fields = await redis.hgetall(keyOf(msisdn));
    const number = numberIn(fields.number);
    if (number === undefined) return undefined;
    const phones = Object.keys(fields)
      .filter((field) => field.startsWith('phone:'))
      .map((field) => phoneIn(msisdn, field.slice('phone:'.length), fields))
      .filter((phone) => phone !== undefined)
      .toSorted((one, other) => one.enrolledAt - other.enrolledAt);
    return { ...number, msisdn, phones };
  };

  /** @returns False when the phone was removed meanwhile. */
  const setWhere = async (
    { msisdn, id }: Pick<Phone, 'msisdn' | 'id'>,
    ...fields: readonly string[]
  ): Promise<boolean> =>
    (await redis.eval(setWhereScript, 1, keyOf(msisdn), `phone:${id}`, ...fields)) === 1;

  /** @returns False when the field has another value by now. */
  const setUnchanged = async (
    msisdn: string,
    before: readonly [field: string, value: string],
    fields: readonly string[],
  ): Promise<boolean> =>
    (await redis.eval(setUnchangedScript, 1, keyOf(msisdn), ...before, ...fields)) === 1;

  const sealedPhone = (
    msisdn: string,
    id: string,
    record: PhoneRecord,
  ): [field: string, sealed: string] => [
    `phone:${id}`,
    seal(msisdn, `phone:${id}`, phoneSchema.parse(record)),
  ];

  return {
    read,

    putNumber: async (msisdn: string, number: NumberRecord): Promise<void> => {
      await redis.hset(keyOf(msisdn), 'number', JSON.stringify(number));
    },

    /** @returns False when its invitation is no longer that of the number. */
    add: async (
      msisdn: string,
      id: string,
      record: PhoneRecord & { readonly invitation: string },
    ): Promise<boolean> => {
      const number = (await redis.hget(keyOf(msisdn), 'number')) ?? '';
      if (numberIn(number)?.invitation?.id !== record.invitation) return false;
      // Whatever changes the number ends this invitation.
      return setUnchanged(msisdn, ['number', number], sealedPhone(msisdn, id, record));
    },

    /**
     * Changes what is stored now, so that no change of another request is undone.
     *
     * @param next What is to change of the present record; undefined for nothing.
     * @returns False when nothing is to change, or the phone was removed meanwhile.
     */
    change: async (
      { msisdn, id }: Pick<Phone, 'msisdn' | 'id'>,
      next: (present: PhoneRecord) => Partial<PhoneRecord> | undefined,
    ): Promise<boolean> => {
      const field = `phone:${id}`;
      for (let round = 0; round < maxRounds; round += 1) {
        const sealed = await redis.hget(keyOf(msisdn), field);
        const present = recordIn(msisdn, field, sealed);
        const change = present && next(present);
        if (sealed === null || present === undefined || change === undefined) return false;
        const changed = sealedPhone(msisdn, id, { ...present, ...change });
        if (await setUnchanged(msisdn, [field, sealed], changed)) return true;
      }
      throw new Error('Too many changes of one phone at the same time');
    },

    /**
     * Ends its invitation first: no copy of its enrolment brings it back.
     * @returns Whether it was there.
     */
    remove: async ({ msisdn, id }: Pick<Phone, 'msisdn' | 'id'>): Promise<boolean> => {
      const key = keyOf(msisdn);
      const [text, sealed] = await redis.hmget(key, 'number', `phone:${id}`);
      const { invitation, ...number } = numberIn(text) ?? {};
      const phone = recordIn(msisdn, `phone:${id}`, sealed);
      if (text && invitation !== undefined && invitation.id === phone?.invitation) {
        await setUnchanged(msisdn, ['number', text], ['number', JSON.stringify(number)]);
      }
      const wasThere = (await redis.hdel(key, `phone:${id}`)) === 1;
      await redis.hdel(key, `tries:${id}`, `entered:${id}`, `push:${id}`);
      return wasThere;
    },

    /**
     * A PIN was entered.
     *
     * @param rightAt When, of the right one; undefined for a wrong one.
     */
    judge: async ({ msisdn, id }: Phone, rightAt: number | undefined): Promise<Judged> => {
      const at = rightAt === undefined ? '' : String(rightAt);
      const tries = Number(await redis.eval(judgeScript, 1, keyOf(msisdn), id, pinTries, at));
      if (tries < 0) return { kind: 'unknown' };
      if (tries === 0) return { kind: 'right' };
      return tries >= pinTries
        ? { kind: 'blocked' }
        : { kind: 'wrong', triesLeft: pinTries - tries };
    },

    /** There is a new PIN. */
    noteEntered: (phone: Phone, at: number): Promise<boolean> =>
      setWhere(phone, `tries:${phone.id}`, '0', `entered:${phone.id}`, String(at)),

    setSubscription: (phone: Phone, subscription: Subscription): Promise<boolean> =>
      setWhere(phone, `push:${phone.id}`, seal(phone.msisdn, `push:${phone.id}`, subscription)),

    removeSubscription: async ({ msisdn, id }: Pick<Phone, 'msisdn' | 'id'>): Promise<void> => {
      await redis.hdel(keyOf(msisdn), `push:${id}`);
    },
  };
};
