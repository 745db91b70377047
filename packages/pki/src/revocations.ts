/**
 * What was revoked, as this process knows it: a copy of one record that only grows.
 *
 * The field of a certificate is its serial number. The field `next:<record>` allows the next
 * version of a record although the last one is not over: the number has a new owner, the operator
 * lets a device have a new key, or an authority is rolled over.
 *
 * A copy is at most a second old when it is used after {@link Revocations.refresh}, which asks for
 * the number of fields alone unless there are new ones.
 */
import { z } from 'zod';
import type { CustodyStore, Revocation, RevokedSerial } from './ports.ts';
import { revocationReasons } from './ports.ts';

/** The first version of a record has its plain name, later ones end in `:v2`, `:v3` … */
export const versionName = (base: string, version: number): string =>
  version === 1 ? base : `${base}:v${version}`;

export const readVersionName = (
  name: string,
): { readonly base: string; readonly version: number } => {
  const [, base = name, version = '1'] = /^(.*):v(\d+)$/.exec(name) ?? [];
  return { base, version: Number(version) };
};

const recordName = 'revoked';
const maxAgeMs = 1000;

const entrySchema = z.object({
  /** The name of the certificate's record. */
  record: z.string(),
  reason: z.enum(revocationReasons),
  at: z.number(),
  authority: z.string(),
  notAfter: z.number(),
});
type Entry = z.infer<typeof entrySchema>;

const markPrefix = 'next:';
const markSchema = z.object({ at: z.number() });

/** The reasons after which the next use makes a new key. */
const followed: ReadonlySet<string> = new Set(['superseded', 'affiliationChanged']);

/**
 * @param assertStore Throws when the store is not the one that this process began with.
 * @param onNew       Gets the record that a new field is about.
 */
export const createRevocations = ({
  store,
  assertStore,
  now,
  onNew,
}: {
  readonly store: Pick<CustodyStore, 'addField' | 'countFields' | 'fields'>;
  readonly assertStore: () => Promise<void>;
  readonly now: () => number;
  readonly onNew: (record: string) => void;
}) => {
  const entries = new Map<string, Entry>();
  /** Field → when it was allowed. */
  const marks = new Map<string, number>();
  /** The last version that is allowed, by the name of the record without version. */
  const lastAllowed = new Map<string, { readonly version: number; readonly at: number }>();
  /** The last version that is revoked, by the name of the record without version. */
  const lastRevoked = new Map<string, { readonly version: number; readonly reason: string }>();
  let listed: readonly RevokedSerial[] = [];
  let readAt = Number.NEGATIVE_INFINITY;
  let reading: Promise<void> | undefined;

  const take = (field: string, value: string): void => {
    if (field.startsWith(markPrefix)) {
      if (marks.has(field)) return;
      const record = field.slice(markPrefix.length);
      const { at } = markSchema.parse(JSON.parse(value));
      const { base, version } = readVersionName(record);
      marks.set(field, at);
      if (version > (lastAllowed.get(base)?.version ?? 0)) lastAllowed.set(base, { version, at });
      onNew(record);
      return;
    }
    if (entries.has(field)) return;
    const entry = entrySchema.parse(JSON.parse(value));
    entries.set(field, entry);
    const { base, version } = readVersionName(entry.record);
    if (version >= (lastRevoked.get(base)?.version ?? 0)) {
      lastRevoked.set(base, { version, reason: entry.reason });
    }
    onNew(entry.record);
  };

  const read = async (): Promise<void> => {
    const startedAt = now();
    await assertStore();
    // Before the count: what this process adds meanwhile must not stand for what another one has.
    const known = entries.size + marks.size;
    if ((await store.countFields(recordName)) !== known) {
      for await (const page of store.fields(recordName)) {
        for (const [field, value] of page) take(field, value);
      }
    }
    readAt = startedAt;
  };

  /**
   * @throws When the store is unreachable, or is no longer the one that this process began with.
   */
  const refresh = async (ageMs = maxAgeMs): Promise<void> => {
    // A clock that was set back must not stop the reading.
    if (Math.abs(now() - readAt) < ageMs) return;
    // One that has begun may have passed what is asked for.
    if (ageMs === 0) await reading?.catch(() => undefined);
    reading ??= read().finally(() => {
      reading = undefined;
    });
    await reading;
  };

  const add = async (field: string, value: object): Promise<boolean> => {
    const isNew = await store.addField(recordName, field, JSON.stringify(value));
    if (isNew) take(field, JSON.stringify(value));
    else await refresh(0);
    return isNew;
  };

  return {
    refresh,
    /** @param authority Only when the certificate is of this one. */
    of: (serial: string, authority?: string): Revocation | undefined => {
      const entry = entries.get(serial);
      if (entry === undefined || (authority ?? entry.authority) !== entry.authority)
        return undefined;
      return { reason: entry.reason, at: entry.at };
    },
    /** @returns Whether it was not revoked before. The first order stands. */
    revoke: (serial: string, entry: Entry): Promise<boolean> => add(serial, entry),
    /** Allows a version of a record. */
    allow: (record: string): Promise<boolean> => add(`${markPrefix}${record}`, { at: now() }),
    /** Whether a version of a record may be made although the one before is not over. */
    isAllowed: (base: string, version: number): boolean => {
      const last = lastRevoked.get(base);
      return (
        marks.has(`${markPrefix}${versionName(base, version)}`) ||
        (last !== undefined && last.version >= version - 1 && followed.has(last.reason))
      );
    },
    /** The last version that was allowed so, and when; undefined for none. */
    lastAllowed: (base: string) => lastAllowed.get(base),
    /** Whether the last version is revoked and no next one is allowed. */
    isBlocked: (base: string): boolean => {
      const last = lastRevoked.get(base);
      return (
        last !== undefined &&
        !followed.has(last.reason) &&
        !marks.has(`${markPrefix}${versionName(base, last.version + 1)}`)
      );
    },
    /** All, oldest first. The same array until there are more. */
    list: (): readonly RevokedSerial[] => {
      if (listed.length < entries.size) {
        listed = [...entries].map(([serial, { record: _, ...entry }]) => ({ serial, ...entry }));
      }
      return listed;
    },
  };
};

export type Revocations = ReturnType<typeof createRevocations>;
