/**
 * Records look-ups by a person's number in the audit log, because a look-up reveals as much about
 * an operator's access as reading. An entry is written before the answer, once in a session for
 * each number and list, because live pages repeat the question. It names the number by a pseudonym
 * that needs the service key; the command line without that key names none.
 */

import type { AdminApiDeps, ConsoleSession } from './deps.ts';
import { doneBy } from './operators/audit.ts';

export const createLookUps =
  ({ audit, numberName }: Pick<AdminApiDeps, 'audit' | 'numberName'>) =>
  /**
   * @param what   The list, as the audit log names it.
   * @param msisdn Digits; undefined for a list that is not narrowed to a number.
   * @throws When it cannot be recorded; then nothing may be shown.
   */
  async (
    { operator, id }: Pick<ConsoleSession, 'operator' | 'id'>,
    what: string,
    msisdn: string | undefined,
  ): Promise<void> => {
    if (msisdn === undefined) return;
    const target = numberName?.(msisdn);
    const entry = {
      ...doneBy(operator),
      ...({ action: 'view-sensitive', details: { what, by: 'number' } } as const),
      ...(target !== undefined && { target }),
    };
    await audit.record(entry, target && `look:${id}:${what}:${target}`);
  };
