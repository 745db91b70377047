/**
 * What the phones of a number show: prompts in Redis, which workers write and every API process
 * reads, and a stream that tells the API processes of changes.
 *
 * A prompt is written once. After its end only a mark is left, so that an attempt that is put to
 * the phone again after a crash does not come back. Prompts are sealed, because they hold the text.
 */
import { z } from 'zod';
import { createTextSealer, deriveKey } from '../../packages/pki/src/sealed-json.ts';
import type { RedisClient } from '../../src/redis/connect.ts';

const dataSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('text'), text: z.string() }),
  z.object({ kind: z.literal('transaction-approval'), text: z.string(), dtbd: z.string() }),
]);

const promptSchema = z.object({
  kind: z.enum(['sign', 'receipt']),
  transactionId: z.string(),
  attempt: z.number().int(),
  apId: z.string(),
  data: dataSchema,
  /** Base64. Empty for a receipt. */
  nonce: z.string(),
  language: z.string().optional(),
  /** Milliseconds since the epoch, by the clock of Redis. */
  promptedAt: z.number(),
  deadline: z.number(),
  /** The activity that gets the person's answer to a receipt; undefined for a signature. */
  answerTo: z.string().optional(),
});

type Shown = Readonly<z.infer<typeof promptSchema>>;

/** `id`: `<MSSP_TransID>.<attempt>`, of a receipt `<MSSP_TransID>.receipt`. */
export type PhonePrompt = Shown & { readonly id: string };

export const endReasons = ['signed', 'cancelled', 'expired', 'elsewhere'] as const;
/** elsewhere: by the application, an operator, a newer request or another phone of the number. */
export type EndReason = (typeof endReasons)[number];

/** `by`: the phone that has ended it; undefined for others. */
export interface PromptEnd {
  readonly why: EndReason;
  readonly by?: string | undefined;
}

export type FoundPrompt =
  | { readonly kind: 'open'; readonly prompt: PhonePrompt }
  | ({ readonly kind: 'ended' } & PromptEnd);

/** state: the phones of the number have changed. */
const toldSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('prompt'), msisdn: z.string(), id: z.string() }),
  z.object({
    kind: z.literal('gone'),
    msisdn: z.string(),
    id: z.string(),
    why: z.enum(endReasons),
    by: z.string().optional(),
  }),
  z.object({ kind: z.literal('state'), msisdn: z.string() }),
]);
export type Told = Readonly<z.infer<typeof toldSchema>>;

/** Longer than any prompt lasts. */
const keptMs = 3_700_000;
/** A reader that is slower misses some; its phones ask for their state when they connect again. */
const maxTold = 10_000;
/** Each time after so many prompts of a number, its old prompts are removed. */
const pruneEvery = 32;
const toldField = 'told';

export const toldKey = (prefix: string): string => `${prefix}:phones:told`;

/**
 * @param fields The fields of a stream's entry.
 * @returns Undefined for an entry of another format.
 */
export const readTold = ([, text = '']: readonly string[]): Told | undefined => {
  try {
    return toldSchema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
};

/** @throws When one of the commands has failed. */
const carryOut = async (
  commands: ReturnType<RedisClient['multi']>,
): Promise<readonly unknown[]> => {
  const replies = (await commands.exec()) ?? [];
  for (const [error] of replies) if (error !== null) throw error;
  return replies.map(([, reply]) => reply);
};

const endPrefix = 'end:';
const endField = (id: string): string => `${endPrefix}${id}`;
/** @param at When, milliseconds since the epoch. */
const writeEnd = ({ why, by = '' }: PromptEnd, at: number): string => `${why} ${by} ${at}`;
const readEnd = (text: string): PromptEnd => {
  const [written, by] = text.split(' ');
  return { why: endReasons.find((each) => each === written) ?? 'elsewhere', by: by || undefined };
};

/** Marks before the time was written into them end with the hash. */
const isOldEnd = (mark: string, at: number): boolean =>
  Number(mark.split(' ')[2] ?? at) + keptMs < at;

export type PhonePrompts = ReturnType<typeof createPhonePrompts>;

export const createPhonePrompts = ({
  redis,
  prefix,
  serviceKey,
  now,
}: {
  readonly redis: RedisClient;
  readonly prefix: string;
  readonly serviceKey: Uint8Array;
  /** Milliseconds since the epoch, by the clock of Redis. */
  readonly now: () => number;
}) => {
  const sealer = createTextSealer(deriveKey(serviceKey, 'paraph phone prompts'));
  const keyOf = (msisdn: string): string => `${prefix}:phone:${msisdn}:prompts`;
  const placeOf = (msisdn: string, id: string): string => `phone prompt ${msisdn} ${id}`;

  const tell = async (told: Told): Promise<void> => {
    await redis.xadd(toldKey(prefix), 'MAXLEN', '~', maxTold, '*', toldField, JSON.stringify(told));
  };

  const open = (
    msisdn: string,
    id: string,
    sealed: string | undefined,
  ): PhonePrompt | undefined => {
    if (sealed === undefined) return undefined;
    const { data } = promptSchema.safeParse(sealer.open(placeOf(msisdn, id), sealed));
    return data && { ...data, id };
  };

  /** The hash of a number that is asked often never expires, so its old fields are removed. */
  const prune = async (msisdn: string): Promise<void> => {
    const key = keyOf(msisdn);
    const isOld = ([field, value]: [string, string]): boolean =>
      field.startsWith(endPrefix)
        ? isOldEnd(value, now())
        : (open(msisdn, field, value)?.deadline ?? Infinity) + keptMs < now();
    const old = Object.entries(await redis.hgetall(key)).filter(isOld);
    if (old.length > 0) await redis.hdel(key, ...old.map(([field]) => field));
  };

  return {
    tell,

    /** Shows a prompt. The same one again changes nothing. */
    put: async (msisdn: string, { id, ...prompt }: PhonePrompt): Promise<void> => {
      const key = keyOf(msisdn);
      const sealed = sealer.seal(placeOf(msisdn, id), prompt);
      const [isNew, , count] = await carryOut(
        redis.multi().hsetnx(key, id, sealed).pexpire(key, keptMs).hlen(key),
      );
      // Also for the same one again: the process may have died before it told of the first.
      await tell({ kind: 'prompt', msisdn, id });
      if (isNew === 1 && Number(count) % pruneEvery === 0) await prune(msisdn);
    },

    /** The open prompts of a number, the oldest first. */
    list: async (msisdn: string): Promise<readonly PhonePrompt[]> => {
      const fields = await redis.hgetall(keyOf(msisdn));
      return Object.keys(fields)
        .filter((id) => !id.startsWith(endPrefix) && fields[endField(id)] === undefined)
        .map((id) => open(msisdn, id, fields[id]))
        .filter((prompt) => prompt !== undefined)
        .filter(({ deadline }) => deadline > now())
        .toSorted((one, other) => one.promptedAt - other.promptedAt);
    },

    /** @returns Undefined for an id that is unknown, or so old that it is forgotten. */
    find: async (msisdn: string, id: string): Promise<FoundPrompt | undefined> => {
      const [sealed, end] = await redis.hmget(keyOf(msisdn), id, endField(id));
      if (typeof end === 'string') return { kind: 'ended', ...readEnd(end) };
      const prompt = open(msisdn, id, sealed ?? undefined);
      if (prompt === undefined) return undefined;
      return prompt.deadline > now() ? { kind: 'open', prompt } : { kind: 'ended', why: 'expired' };
    },

    /**
     * Takes a prompt from the phones. The first end stands, but for that of a phone: when its
     * answer counted, the worker that ended the attempt may have been faster.
     */
    end: async (msisdn: string, id: string, end: PromptEnd): Promise<void> => {
      const key = keyOf(msisdn);
      const [field, mark] = [endField(id), writeEnd(end, now())];
      const all = redis.multi();
      const marked =
        end.by === undefined ? all.hsetnx(key, field, mark) : all.hset(key, field, mark);
      const [isFirst] = await carryOut(marked.hdel(key, id).pexpire(key, keptMs));
      if (isFirst === 1 || end.by !== undefined) await tell({ kind: 'gone', msisdn, id, ...end });
    },
  };
};
