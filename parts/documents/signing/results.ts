/**
 * The signed document of a process: a document like any other, which the application downloads
 * under an id of its own. Each signature is a revision of it, one after the other.
 *
 * The files are in the store, each under its SHA-256. Redis has the record with the list of
 * revisions. A revision counts when the list has it, and it is added only to the list that it was
 * made from. So two people who sign at the same time never lose a signature, and a file that was
 * written before a crash, and is in no list, is never shown.
 *
 * The id follows from the process, so that each try finds what an earlier one has done.
 */
import { hash } from 'node:crypto';
import { z } from 'zod';
import type { RedisClient } from '../../../src/redis/connect.ts';
import type { DocumentRecord } from '../records.ts';
import type { Stored } from '../store/store.ts';

const revisionSchema = z.object({
  /** The transaction by which the person has signed. */
  transaction: z.string(),
  step: z.string(),
  key: z.string(),
  name: z.string(),
  how: z.enum(['signed', 'sealed']),
  level: z.string(),
  /** Milliseconds since the epoch. */
  at: z.number(),
  sha256: z.string(),
  size: z.number(),
});
/** A revision that a signature has made. */
export type Revision = Readonly<z.infer<typeof revisionSchema>>;

const chainSchema = z.object({
  /** The id of the document that it began with. */
  document: z.string(),
  revisions: z.array(revisionSchema),
  /** The last file, where something was added after the last signature. */
  last: z.object({ sha256: z.string(), size: z.number() }).optional(),
});
export type Chain = Readonly<z.infer<typeof chainSchema>>;

/** A chain, with what the next one must follow. */
export interface FoundChain extends Chain {
  readonly text: string;
}

/** Who a result belongs to. */
export interface ResultOf {
  /** Of the process. */
  readonly instance: string;
  /** Of the process, because an id may be used again after its retention. */
  readonly createdAt: number;
  /** Of the document in the process. */
  readonly name: string;
}

export const resultIdOf = ({ instance, createdAt, name }: ResultOf): string =>
  `D${hash('sha256', JSON.stringify([instance, createdAt, name]), 'hex').slice(0, 32)}`;

/** The file that a chain ends with. */
export const lastOf = ({ last, revisions }: Chain): Stored | undefined => last ?? revisions.at(-1);

/**
 * Adds what follows a chain. KEYS: record, times of ends, times of beginnings, bytes of
 * applications, the mark of a result that is over. ARGV: id, the chain that it follows (empty for
 * none), the next one, about, until, added at, application, bytes, 1 for one that must not be over:
 * until the end the process uses it, so that nobody removes it with the signatures that it has.
 * @returns 1: done; 0: another one was faster; -1: the result is over.
 */
const addScript = `
if redis.call('EXISTS', KEYS[5]) == tonumber(ARGV[9]) then return -1 end
if (redis.call('HGET', KEYS[1], 'chain') or '') ~= ARGV[2] then return 0 end
redis.call('HSET', KEYS[1], 'chain', ARGV[3], 'about', ARGV[4], 'until', ARGV[5])
if ARGV[9] == '1' then redis.call('HSET', KEYS[1], 'use:process', ARGV[5])
else redis.call('HDEL', KEYS[1], 'use:process') end
redis.call('ZADD', KEYS[2], ARGV[5], ARGV[1])
redis.call('ZADD', KEYS[3], 'NX', ARGV[6], ARGV[1])
redis.call('HINCRBY', KEYS[4], ARGV[7], ARGV[8])
return 1`;

/** KEYS: the turn. ARGV: whose it is. */
const endTurnScript = `
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0`;

/** Longer than a signature takes. Another try in the same turn does no harm. */
const turnMs = 30_000;
/** Longer than an activity that is left goes on. */
const overMs = 86_400_000;

export const createResults = ({
  redis,
  prefix,
}: {
  readonly redis: RedisClient;
  readonly prefix: string;
}) => {
  // As in records.ts: all keys share a slot.
  const slot = `{${prefix}-documents}`;
  const keyOf = (id: string): string => `${slot}:document:${id}`;
  const overKey = (id: string): string => `${slot}:over:${id}`;
  const turnKey = (id: string): string => `${slot}:turn:${id}`;

  const add = async (
    { id, expiresAt, ...about }: DocumentRecord,
    before: FoundChain | undefined,
    next: Chain,
    grown: number,
    mayBeOver: boolean,
  ): Promise<'done' | 'raced' | 'over'> => {
    const result = await redis.eval(
      addScript,
      5,
      keyOf(id),
      `${slot}:until`,
      `${slot}:added`,
      `${slot}:bytes`,
      overKey(id),
      id,
      before?.text ?? '',
      JSON.stringify(chainSchema.parse(next)),
      JSON.stringify(about),
      expiresAt,
      about.createdAt,
      about.apId,
      grown,
      mayBeOver ? 2 : 1,
    );
    return result === 1 ? 'done' : result === 0 ? 'raced' : 'over';
  };

  return {
    /** @returns Undefined before the first signature. */
    find: async (id: string): Promise<FoundChain | undefined> => {
      const text = await redis.hget(keyOf(id), 'chain');
      return text === null ? undefined : { ...chainSchema.parse(JSON.parse(text)), text };
    },

    /**
     * Adds what follows a chain, and makes it the content of the document.
     *
     * @param record As it is from now on.
     * @param before The chain that was found.
     * @param grown The bytes that the document has more.
     */
    follow: (
      record: DocumentRecord,
      before: FoundChain | undefined,
      next: Chain,
      grown: number,
    ): Promise<'done' | 'raced' | 'over'> => add(record, before, next, grown, false),

    /** The same by the process itself, at its end. */
    conclude: (
      record: DocumentRecord,
      before: FoundChain,
      next: Chain,
      grown: number,
    ): Promise<'done' | 'raced' | 'over'> => add(record, before, next, grown, true),

    /** From now on nothing is added: not by an activity that goes on after its process has ended. */
    end: async (id: string): Promise<void> => {
      await redis.set(overKey(id), '1', 'PX', overMs);
    },

    /**
     * Takes the turn to add something. It only spares work: {@link follow} decides.
     * @returns False while another one has it.
     */
    takeTurn: async (id: string, by: string): Promise<boolean> =>
      (await redis.set(turnKey(id), by, 'PX', turnMs, 'NX')) === 'OK',
    endTurn: async (id: string, by: string): Promise<void> => {
      await redis.eval(endTurnScript, 1, turnKey(id), by);
    },
  };
};

export type Results = ReturnType<typeof createResults>;
