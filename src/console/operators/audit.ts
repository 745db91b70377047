/**
 * The audit log: each action of an operator with its actor, target and reason.
 *
 * It is a Redis Stream that is only appended to. An entry is written before its action, so an
 * action that cannot be recorded is not done. The result is found at the target (in the
 * transaction, in the report of the bulk). Only an action that was not done after all gets a second
 * entry, with an `outcome` in its details.
 *
 * The time of an entry is the clock of Redis, and part of its id.
 *
 * Keys: docs/storage.md. The list of ids per target ends 400 days after its last entry. Older
 * entries stay in the log and are searched for there.
 */
import { z } from 'zod';
import type { RedisClient } from '../../redis/connect.ts';
import type { EventLog } from '../../telemetry/logger.ts';
import { isBehindBulk, isOfBulk } from './audit-bulks.ts';
import { type Operator, ways } from './operator.ts';

export const auditActions = [
  'login',
  'login-failed',
  'logout',
  'link-issue',
  'link-end',
  'replay',
  'cancel',
  'bulk-replay',
  'bulk-cancel',
  'bulk-send',
  'bulk-stop',
  'bulk-end',
  'view-sensitive',
  'export',
  'user-add',
  'user-remove',
  'user-role',
  // Actions of releases before 0.3, which old entries still have.
  'user-password',
  'user-phone',
  'token-issue',
  'token-revoke',
  'client-change',
  'key-rotate',
  'master-key',
  'queue-change',
  'history-rebuild',
] as const;
export type AuditAction = (typeof auditActions)[number];

const entrySchema = z.object({
  who: z.string(),
  /**
   * The way in which the actor proved an identity. `service` is the service itself, `none` a person
   * who is not logged in; `password` comes from releases before 0.3.
   */
  via: z.enum([...ways, 'password', 'service', 'none']),
  /** One of {@link auditActions}, or an action of a part. */
  action: z.string(),
  /**
   * MSSP_TransID, serial number of a certificate or a person, id of a bulk or of a workflow's
   * instance, name of an operator.
   */
  target: z.string().optional(),
  /** The reason in the operator's own words. It is never repeated in the log of the process. */
  reason: z.string().optional(),
  /** Further facts, without secrets, phone numbers or texts to be signed. */
  details: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).optional(),
});

export interface NewAuditEntry extends Readonly<z.infer<typeof entrySchema>> {
  /** The id of the token that was used. A read entry has it among its details. */
  readonly token?: string | undefined;
}

/** The part of an entry that names the operator. */
export const doneBy = ({
  name: who,
  via,
  token,
}: Operator): Pick<NewAuditEntry, 'who' | 'via' | 'token'> => ({
  who,
  via,
  ...(token !== undefined && { token }),
});

export interface AuditEntry extends Omit<NewAuditEntry, 'token'> {
  /** The id of the stream: milliseconds, `-` and a count. Later entries have greater ids. */
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

export interface AuditFilter {
  /** The earliest time of an entry, milliseconds since the epoch. */
  readonly from?: number | undefined;
  /** Entries must be earlier than this time, milliseconds since the epoch. */
  readonly to?: number | undefined;
  readonly who?: string | undefined;
  readonly action?: string | undefined;
  readonly target?: string | undefined;
  /** Only entries about this bulk: its order, its stop, its end and its items. */
  readonly bulk?: string | undefined;
  /** Whether a bulk is one entry, without those of its items and its end. */
  readonly isFolded?: boolean | undefined;
  /** 1 to 1000; default 100. */
  readonly limit?: number | undefined;
  /** The cursor that the page before has returned. */
  readonly cursor?: string | undefined;
}

export interface AuditPage {
  readonly entries: readonly AuditEntry[];
  /** The cursor of the next page; absent on the last page. */
  readonly cursor?: string;
}

/** Writes a line with `audit: true`. */
export interface AuditLog {
  audit(entry: Pick<NewAuditEntry, 'who' | 'via' | 'action' | 'target' | 'details'>): void;
}

/** Repeats the audit log of the operators in the process's log. */
export const createAuditLog = (log: EventLog): AuditLog => ({
  audit: ({ who, via, action, target, details }) =>
    log.info({ audit: true, who, via, target, outcome: details?.outcome }, action),
});

export type Audit = ReturnType<typeof createAudit>;

/**
 * Records an action, does it, and adds a second entry when it was not done.
 *
 * @param act    The action. It gets the id of the entry.
 * @param isDone Returns true, or the outcome for the second entry; false stands for `not-done`.
 */
export const noted = async <T>(
  audit: Pick<Audit, 'record'>,
  entry: NewAuditEntry,
  act: (order: string) => Promise<T>,
  isDone: (result: T) => boolean | string,
): Promise<T> => {
  const result = await act(await audit.record(entry));
  const done = isDone(result);
  if (done !== true)
    await audit.record({ ...entry, details: { ...entry.details, outcome: done || 'not-done' } });
  return result;
};

const onceSeconds = 31 * 86_400;
const aboutSeconds = 400 * 86_400;
const readAtOnce = 500;
/** Entries that are read for one page at most. */
const maxRead = 20_000;

/**
 * KEYS: the log, the mark of an action that is recorded once, the list of the target.
 * ARGV: the entry, whether once, seconds, whether there is a target, seconds.
 */
const recordScript = `
local before = ARGV[2] ~= '' and redis.call('GET', KEYS[2])
if before then return before end
local id = redis.call('XADD', KEYS[1], '*', 'entry', ARGV[1])
if ARGV[2] ~= '' then redis.call('SET', KEYS[2], id, 'EX', ARGV[3]) end
if ARGV[4] ~= '' then
  redis.call('RPUSH', KEYS[3], id)
  redis.call('EXPIRE', KEYS[3], ARGV[5])
end
return id`;

type RawEntries = readonly (readonly [id: string, fields: readonly string[]])[];

const isEntryId = (text: string): boolean => /^\d{1,15}-\d{1,10}$/.test(text);

const isOlder = (id: string, than: string): boolean => {
  const [at = 0, count = 0] = id.split('-').map(Number);
  const [thanAt = 0, thanCount = 0] = than.split('-').map(Number);
  return at < thanAt || (at === thanAt && count < thanCount);
};

const fits = (
  entry: AuditEntry,
  { from, to, who, action, target, bulk, isFolded = false }: AuditFilter,
): boolean =>
  (from === undefined || entry.at >= from) &&
  (to === undefined || entry.at < to) &&
  (who === undefined || entry.who === who) &&
  (action === undefined || entry.action === action) &&
  (target === undefined || entry.target === target) &&
  (bulk === undefined || isOfBulk(entry, bulk)) &&
  !(isFolded && isBehindBulk(entry));

export const createAudit = ({
  redis,
  prefix,
  log,
}: {
  readonly redis: RedisClient;
  readonly prefix: string;
  readonly log: AuditLog;
}) => {
  const key = `{${prefix}}:audit`;
  const aboutKey = (target: string): string => `${key}:of:${target}`;

  const readEntry = (id: string, fields: readonly string[]): AuditEntry | undefined => {
    try {
      const entry = entrySchema.safeParse(JSON.parse(fields[1] ?? ''));
      return entry.success ? { ...entry.data, id, at: Number(id.split('-')[0]) } : undefined;
    } catch {
      return undefined;
    }
  };

  /** Yields entries of the stream, newest first. */
  async function* logged(
    { from, to }: AuditFilter,
    cursor: string | undefined,
  ): AsyncGenerator<RawEntries> {
    const since = from === undefined ? '-' : String(Math.max(0, Math.trunc(from)));
    let below =
      cursor !== undefined ? `(${cursor}` : to === undefined ? '+' : `(${Math.trunc(to)}-0`;
    for (;;) {
      const found = await redis.xrevrange(key, below, since, 'COUNT', readAtOnce);
      yield found;
      const last = found.at(-1);
      if (last === undefined || found.length < readAtOnce) return;
      below = `(${last[0]}`;
    }
  }

  async function* about(
    { target = '', ...filter }: AuditFilter,
    cursor: string | undefined,
  ): AsyncGenerator<RawEntries> {
    const all = (await redis.lrange(aboutKey(target), 0, -1)).toReversed();
    const ids = cursor === undefined ? all : all.filter((id) => isOlder(id, cursor));
    for (let first = 0; first < ids.length; first += readAtOnce) {
      const some = ids.slice(first, first + readAtOnce);
      yield (await Promise.all(some.map((id) => redis.xrange(key, id, id)))).flat();
    }
    // An earlier list of this target ended at least this time before the first entry of this one.
    const began = all.at(-1)?.split('-')[0] ?? Number((await redis.time())[0]) * 1000;
    const before = `${Number(began) - aboutSeconds * 1000}-0`;
    if (filter.from !== undefined && isOlder(before, `${Math.trunc(filter.from)}-0`)) return;
    yield* logged(filter, cursor !== undefined && isOlder(cursor, before) ? cursor : before);
  }

  /** The filter, narrowed to the time of a bulk as far as that is known. */
  const within = async (filter: AuditFilter, bulk: string): Promise<AuditFilter> => {
    const [first = bulk] = await redis.lrange(aboutKey(bulk), 0, 0);
    const began = isEntryId(first) ? Number(first.split('-')[0]) : 0;
    return { ...filter, from: Math.max(began, filter.from ?? 0) };
  };

  return {
    /**
     * @param once A name for an action that may be repeated after a crash. It is recorded at most
     *   once a month.
     * @returns The id of the entry, which is durable as far as Redis is.
     * @throws When Redis is unreachable: do not act.
     */
    record: async ({ token, ...entry }: NewAuditEntry, once = ''): Promise<string> => {
      const { who, via, action, target, details } = entry;
      const whole = token === undefined ? entry : { ...entry, details: { ...details, token } };
      const id = await redis.eval(
        recordScript,
        3,
        key,
        `${key}:once:${once}`,
        aboutKey(target ?? ''),
        JSON.stringify(whole),
        once,
        onceSeconds,
        target ?? '',
        aboutSeconds,
      );
      log.audit({ who, via, action, target, details });
      return String(id);
    },

    /**
     * Reads a page, newest first. It may have fewer entries than its limit, even none, and yet a
     * cursor.
     *
     * @returns Undefined for an invalid cursor.
     */
    read: async ({
      limit = 100,
      cursor,
      ...filter
    }: AuditFilter = {}): Promise<AuditPage | undefined> => {
      if (cursor !== undefined && !isEntryId(cursor)) return undefined;
      const maxEntries = Math.min(Math.max(Math.trunc(limit), 1), 1000);
      const pages =
        filter.target === undefined
          ? logged(filter.bulk === undefined ? filter : await within(filter, filter.bulk), cursor)
          : about(filter, cursor);
      const entries: AuditEntry[] = [];
      let read = 0;
      for await (const page of pages) {
        for (const [id, fields] of page) {
          const entry = readEntry(id, fields);
          if (entry === undefined || !fits(entry, filter)) continue;
          entries.push(entry);
          if (entries.length === maxEntries) return { entries, cursor: id };
        }
        read += page.length;
        const last = page.at(-1)?.[0];
        if (read >= maxRead && last !== undefined) return { entries, cursor: last };
      }
      return { entries };
    },
  };
};
