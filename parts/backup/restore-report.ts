/**
 * The report at the end of `paraph restore`, which names the orders that the restore undoes.
 *
 * Over the same service, revocations and new persons of numbers are kept, and the audit log has the
 * other orders after the backup. An empty Redis has neither.
 */
import type { Audit, AuditAction, AuditEntry } from '../../src/console/operators/audit.ts';
import type { Kept } from './kept-records.ts';

/** Orders that take something back or end it, and that a restore undoes. */
const undone: ReadonlySet<string> = new Set<AuditAction | 'phone-remove' | 'workflow-cancel'>([
  ...([
    'user-remove',
    'user-role',
    'user-password',
    'user-phone',
    'token-revoke',
    'link-end',
  ] as const),
  ...(['phone-remove', 'client-change', 'key-rotate', 'master-key'] as const),
  ...(['cancel', 'bulk-cancel', 'workflow-cancel'] as const),
]);

const pageEntries = 1000;

/** Orders of the audit log since the backup that have to be given again, the oldest first. */
export const readUndone = async (
  audit: Pick<Audit, 'read'>,
  at: string,
): Promise<readonly AuditEntry[]> => {
  const found: AuditEntry[] = [];
  let cursor: string | undefined;
  do {
    const page = await audit.read({ from: Date.parse(at), limit: pageEntries, cursor });
    // An order that was not carried out has a second entry, with its outcome.
    found.push(...(page?.entries ?? []).filter(({ action }) => undone.has(action)));
    cursor = page?.cursor;
  } while (cursor !== undefined);
  return found.toReversed();
};

const orderText = ({ at, who, action, target = '', details = {} }: AuditEntry): string => {
  const more = Object.entries(details).map(([name, value]) => `${name}=${value}`);
  const words = [new Date(at).toISOString(), who, action, target, ...more];
  return ` ${words.filter((word) => word !== '').join(' ')}`;
};

const counted = (number: number, one: string): string =>
  `${number} ${one}${number === 1 ? '' : 's'}`;

const sameService = (
  at: string,
  { revocations, newPersons }: Kept,
  repeat: readonly AuditEntry[],
): string =>
  [
    `Kept, because it is permanent: ${counted(revocations, 'revocation')} of certificates and ${counted(newPersons, 'number')} with a new person, all after ${at}; and the audit log.`,
    ...(repeat.length === 0
      ? ['The audit log has no order after that moment that was undone.']
      : [
          'These orders of the audit log are undone. Repeat those that still apply, if possible before people and applications reach the service:',
          ...repeat.map(orderText),
        ]),
    '',
  ].join('\n');

const unknownPast = (at: string): string =>
  `Redis held no data of this service. Orders after ${at} are unknown here, and are undone:
 - certificates that were revoked are good again;
 - numbers that were given to a new person belong to the former one again;
 - phones, users, tokens and secrets that were removed or replaced count again.
Look for these orders in the service's log (lines with "audit":true; without those of the command line), and repeat them: docs/operations/backup.md#after-a-restore.
`;

/** @param kept Undefined when Redis did not have the same service. */
export const restoreText = (
  at: string,
  keys: number,
  kept: Kept | undefined,
  repeat: readonly AuditEntry[],
): string => {
  const rest = kept === undefined ? unknownPast(at) : sameService(at, kept, repeat);
  return `${keys} keys as they were at ${at}. What was acknowledged later is lost.\n${rest}Start the service.\n`;
};

/** The orders to be repeated, as members of the JSON. */
export const repeatDocument = (repeat: readonly AuditEntry[]): readonly object[] =>
  repeat.map(({ id: _, at, ...entry }) => ({ at: new Date(at).toISOString(), ...entry }));
