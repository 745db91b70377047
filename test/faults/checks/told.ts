/** What clients were told, by transaction. */
import type { Evidence } from '../evidence.ts';
import type { Entry, Told } from '../journal.ts';

export const isOutcome = (told: Told): boolean =>
  told.kind === 'signed' ||
  told.kind === 'delivered' ||
  // 900 may be said of the call or of the transaction; what is below 200 is said of the request.
  (told.kind === 'fault' && told.code >= 200 && told.code < 900);

/**
 * Equal for what is the same outcome. An expiry is told in different words to who waited and to who
 * asks later.
 */
export const nameOf = (told: Told): string => {
  if (told.kind === 'signed') return `signature ${told.signature}`;
  if (told.kind !== 'fault') return told.kind;
  return told.code === 208 ? 'fault 208' : `fault ${told.code} ${told.detail}`;
};

/**
 * Entries with the transaction they are about: a synchronous caller that got a fault was told no
 * id.
 */
export const byTransaction = ({
  journal,
  jobs,
}: Evidence): ReadonlyMap<string, readonly Entry[]> => {
  const idsOf = new Map<string, string[]>();
  for (const { id, apTransId } of jobs.values())
    idsOf.set(apTransId, [...(idsOf.get(apTransId) ?? []), id]);
  const found = new Map<string, Entry[]>();
  for (const entry of journal) {
    const candidates = entry.apTransId === undefined ? [] : (idsOf.get(entry.apTransId) ?? []);
    const told = 'id' in entry.told ? entry.told.id : undefined;
    const id = told ?? entry.id ?? (candidates.length === 1 ? candidates[0] : undefined);
    if (id !== undefined) found.set(id, [...(found.get(id) ?? []), entry]);
  }
  for (const entries of found.values()) entries.sort((one, other) => one.to - other.to);
  return found;
};
