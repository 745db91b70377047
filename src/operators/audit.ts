/**
 * The audit log: who did what, to what, and why.
 *
 * It is a Redis Stream that is only ever added to; nothing here deletes or trims. An entry is written before the action, so
 * an action that cannot be recorded is not done. What became of it is found where it happened (in the transaction, in the
 * bulk's report); only an action that turned out not to be done gets a second entry, with an `outcome` among its details.
 *
 * The time of an entry is the clock of Redis, one clock for all processes, and part of its id.
 *
 * Key: `{<prefix>}:audit`, and `{<prefix>}:audit:once:…` for a while beside it.
 */
import { z } from 'zod';
import type { RedisClient } from '../redis/connect.ts';
import type { Operator } from './operator.ts';

export const auditActions = [
  'login',
  'login-failed',
  'logout',
  'link-issue',
  'replay',
  'cancel',
  'bulk-replay',
  'bulk-stop',
  'bulk-end',
  'view-sensitive',
  'user-add',
  'user-remove',
  'user-role',
  'user-password',
  'token-issue',
  'token-revoke',
  'callback-replay',
  'queue-change',
  'history-rebuild',
] as const;
export type AuditAction = (typeof auditActions)[number];

export interface NewAuditEntry {
  readonly who: string;
  /** `service` is the service itself, `none` somebody who is not logged in. */
  readonly via: Operator['via'] | 'service' | 'none';
  readonly action: AuditAction;
  /** MSSP_TransID, id of a bulk, name of an operator. */
  readonly target?: string | undefined;
  /** In the operator's own words. Never in the log. */
  readonly reason?: string | undefined;
  /** No secrets, no numbers, no texts. */
  readonly details?: Readonly<Record<string, string | number | boolean>> | undefined;
}

export interface AuditEntry extends NewAuditEntry {
  /** Milliseconds, `-` and a count: greater for later entries. */
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

export interface AuditFilter {
  /** At or after, milliseconds since the epoch. */
  readonly from?: number | undefined;
  /** Before. */
  readonly to?: number | undefined;
  readonly who?: string | undefined;
  readonly action?: AuditAction | undefined;
  readonly target?: string | undefined;
  /** 1 to 1000; default 100. */
  readonly limit?: number | undefined;
  /** Of the page before. */
  readonly cursor?: string | undefined;
}

export interface AuditPage {
  readonly entries: readonly AuditEntry[];
  /** Of the next page; absent when this was the last one. */
  readonly cursor?: string;
}

/** Where an entry is told, too: a line of the log with `audit: true`. */
export interface AuditLog {
  audit(entry: Pick<NewAuditEntry, 'who' | 'via' | 'action' | 'target'>): void;
}

export interface Audit {
  /**
   * @param once Names the action, for one that may be begun again after a crash: it is recorded once, within a month.
   * @returns The id of the entry, which is durable as far as Redis is.
   * @throws When Redis is unreachable: do not act.
   */
  record(entry: NewAuditEntry, once?: string): Promise<string>;
  /**
   * Newest first. A page may have fewer entries than its limit, even none, and yet a cursor.
   *
   * @returns Undefined when the cursor is none.
   */
  read(filter?: AuditFilter): Promise<AuditPage | undefined>;
}

const entrySchema = z.object({
  who: z.string(),
  via: z.enum(['password', 'oidc', 'link', 'cli', 'service', 'none']),
  action: z.enum(auditActions),
  target: z.string().optional(),
  reason: z.string().optional(),
  details: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).optional(),
});

const onceSeconds = 31 * 86_400;
const readAtOnce = 500;
/** Entries that one page goes through. */
const readAtMost = 20_000;

const recordScript = `
if ARGV[2] == '' then return redis.call('XADD', KEYS[1], '*', 'entry', ARGV[1]) end
local before = redis.call('GET', KEYS[2])
if before then return before end
local id = redis.call('XADD', KEYS[1], '*', 'entry', ARGV[1])
redis.call('SET', KEYS[2], id, 'EX', ARGV[3])
return id`;

export const createAudit = ({
  redis,
  prefix,
  log,
}: {
  readonly redis: RedisClient;
  readonly prefix: string;
  readonly log: AuditLog;
}): Audit => {
  const key = `{${prefix}}:audit`;

  const readEntry = (id: string, fields: readonly string[]): AuditEntry | undefined => {
    try {
      const entry = entrySchema.safeParse(JSON.parse(fields[1] ?? ''));
      return entry.success ? { ...entry.data, id, at: Number(id.split('-')[0]) } : undefined;
    } catch {
      return undefined;
    }
  };

  return {
    record: async (entry, once = '') => {
      const { who, via, action, target } = entry;
      const id = await redis.eval(
        recordScript,
        2,
        key,
        `${key}:once:${once}`,
        JSON.stringify(entry),
        once,
        onceSeconds,
      );
      log.audit({ who, via, action, target });
      return String(id);
    },

    read: async ({ from, to, who, action, target, limit = 100, cursor } = {}) => {
      if (cursor !== undefined && !/^\d{1,15}-\d{1,10}$/.test(cursor)) return undefined;
      const most = Math.min(Math.max(Math.trunc(limit), 1), 1000);
      const entries: AuditEntry[] = [];
      const since = from === undefined ? '-' : String(Math.max(0, Math.trunc(from)));
      let below = cursor !== undefined ? `(${cursor}` : to === undefined ? '+' : `(${Math.trunc(to)}-0`;
      for (let read = 0; read < readAtMost; ) {
        const found = await redis.xrevrange(key, below, since, 'COUNT', readAtOnce);
        for (const [id, fields] of found) {
          const entry = readEntry(id, fields);
          below = `(${id}`;
          if (entry === undefined) continue;
          if (to !== undefined && entry.at >= to) continue;
          if (who !== undefined && entry.who !== who) continue;
          if (action !== undefined && entry.action !== action) continue;
          if (target !== undefined && entry.target !== target) continue;
          entries.push(entry);
          if (entries.length === most) return { entries, cursor: id };
        }
        if (found.length < readAtOnce) return { entries };
        read += found.length;
      }
      return { entries, cursor: below.slice(1) };
    },
  };
};
