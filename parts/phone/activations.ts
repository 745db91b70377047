/**
 * Activation codes: `<id>.<secret>`, each for one number, good once and for some time.
 *
 * Of a code only the key that authenticates an enrolment is stored, and it is sealed. A code that
 * was used is kept for two minutes: a browser that has lost the answer sends the same request
 * again, and gets the same phone. Only the newest code of a number is good.
 */
import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { createTextSealer, deriveKey } from '../../packages/pki/src/sealed-json.ts';
import type { RedisClient } from '../../src/redis/connect.ts';
import type { Phones } from './phones.ts';
import { activationKey } from './secrets.ts';

const contentSchema = z.object({
  msisdn: z.string(),
  /** Base64url. */
  key: z.string(),
  /** Takes the place of the oldest phone where there is no room. */
  makesRoom: z.boolean(),
});
export type Activation = Readonly<z.infer<typeof contentSchema>> & { readonly id: string };

export interface IssuedCode {
  /** `<id>.<secret>` */
  readonly code: string;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

const idBytes = 8;
const secretBytes = 16;
const usedMs = 120_000;

/** The secret stands in the fragment, which no server and no log sees. */
export const activationLink = (publicUrl: string, { code }: IssuedCode): string =>
  `${publicUrl}/phone#activate=${code}`;

interface Found extends Activation {
  readonly isUsed: boolean;
  /** Whether the code is over, even for copies of the request that has used it. */
  readonly isOver: boolean;
}

/** What `used` holds. @returns Undefined for a code that is not used. */
const readUse = (used: string | null | undefined) => {
  const [request, at] = used?.split(' ') ?? [];
  return request === undefined ? undefined : { request, at: Number(at) };
};

export type Activations = ReturnType<typeof createActivations>;

export const createActivations = ({
  redis,
  prefix,
  serviceKey,
  phones,
  now,
}: {
  readonly redis: RedisClient;
  readonly prefix: string;
  readonly serviceKey: Uint8Array;
  readonly phones: Pick<Phones, 'read' | 'putNumber'>;
  readonly now: () => number;
}) => {
  const sealer = createTextSealer(deriveKey(serviceKey, 'paraph phone activations'));
  const keyOf = (id: string): string => `${prefix}:phone-code:${id}`;
  const placeOf = (id: string): string => `phone code ${id}`;

  const read = async (id: string): Promise<Found | undefined> => {
    if (!/^[\w-]{11}$/.test(id)) return undefined;
    const [sealed, used] = await redis.hmget(keyOf(id), 'sealed', 'used');
    const { data } = contentSchema.safeParse(sealer.open(placeOf(id), sealed));
    const number = data && (await phones.read(data.msisdn));
    if (data === undefined || number?.invitation?.id !== id) return undefined;
    const { at = now() } = readUse(used) ?? {};
    return { ...data, id, isUsed: Boolean(used), isOver: at + usedMs <= now() };
  };

  return {
    /** Ends earlier codes of the number. @param msisdn Digits. */
    issue: async (
      msisdn: string,
      options: {
        readonly lifeMs: number;
        readonly language?: string | undefined;
        readonly makesRoom?: boolean;
      },
    ): Promise<IssuedCode> => {
      const { lifeMs, language, makesRoom = false } = options;
      const id = randomBytes(idBytes).toString('base64url');
      const secret = randomBytes(secretBytes);
      const content = { msisdn, key: activationKey(secret).toString('base64url'), makesRoom };
      const sealed = sealer.seal(placeOf(id), content);
      await redis.hset(keyOf(id), 'sealed', sealed);
      await redis.pexpire(keyOf(id), Math.ceil(lifeMs));
      const expiresAt = now() + lifeMs;
      const { since, language: before } = (await phones.read(msisdn)) ?? { since: now() };
      const number = { since, language: language ?? before, invitation: { id, expiresAt } };
      await phones.putNumber(msisdn, number);
      return { code: `${id}.${secret.toString('base64url')}`, expiresAt };
    },

    /**
     * @returns Undefined for a code that is unknown, expired, used two minutes ago or earlier, or
     *   not the newest of its number.
     */
    find: async (id: string): Promise<Activation | undefined> => {
      const found = await read(id);
      return found === undefined || found.isOver ? undefined : found;
    },

    /** The state of a code, for the page before a PIN is chosen. */
    stateOf: async (id: string): Promise<'open' | 'used' | 'unknown'> => {
      const found = await read(id);
      if (found === undefined) return 'unknown';
      return found.isUsed ? 'used' : 'open';
    },

    /**
     * Uses the code up, for one request.
     *
     * @param request Hash of the request. @returns False when another request has used it.
     */
    use: async ({ id }: Activation, request: string): Promise<boolean> => {
      const key = keyOf(id);
      // The code stays until its invitation ends: a page that comes later can say that it is used.
      const isFirst = (await redis.hsetnx(key, 'used', `${request} ${now()}`)) === 1;
      // It has ended since it was read.
      if ((await redis.pttl(key)) < 0) await redis.pexpire(key, usedMs);
      return isFirst || readUse(await redis.hget(key, 'used'))?.request === request;
    },
  };
};
