/**
 * Bulks in the audit log. One bulk is one entry, its order; behind it are an entry for each of its
 * items and one for its end.
 */
import type { AuditEntry } from './audit.ts';

type Entry = Pick<AuditEntry, 'id' | 'action' | 'target' | 'details'>;

/** The id of an entry, which is that of a stream in Redis. Orders of other kinds have words. */
const isEntryId = (order: unknown): boolean => typeof order === 'string' && /^\d+-\d+$/.test(order);

/** Items have the id of their bulk, or that of the entry of its order. */
const orderOf = ({ details: { bulk, order } = {} }: Entry): unknown =>
  bulk ?? (isEntryId(order) ? order : undefined);

/** Whether the entry is of an item or of the end of a bulk, and so behind the entry of its order. */
export const isBehindBulk = (entry: Entry): boolean =>
  orderOf(entry) !== undefined || entry.action === 'bulk-end';

/** Whether the entry is about that bulk: its order, its stop, its end, or one of its items. */
export const isOfBulk = (entry: Entry, bulk: string): boolean =>
  [entry.id, entry.target, orderOf(entry)].includes(bulk);

/** The bulk that the entry orders; undefined for every other entry. */
export const bulkOrderedBy = ({ id, target, details = {} }: Entry): string | undefined =>
  typeof details.count === 'number' ? (target ?? id) : undefined;
