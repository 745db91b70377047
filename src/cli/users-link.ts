/** Login links: one for a user who has no other way in just now, and the end of those that the service itself prints. */
import type { Operators } from '../operators/operators.ts';
import type { CliContext, Report } from './context.ts';
import { refusal } from './operations-refusal.ts';
import { iso } from './operations-row.ts';
import type { OperationsSession } from './operations-session.ts';
import { type Field, formatFields, paletteFor, widthOf } from './screen.ts';

/** `paraph users link`. */
export const issueLink = async (
  context: CliContext,
  { issueLinkFor }: Pick<Operators, 'issueLinkFor'>,
  { operator, configuration: { publicUrl } }: OperationsSession,
  name: string,
): Promise<Report> => {
  const issued = await issueLinkFor(operator, name);
  if (issued === undefined) return refusal('unknown-user', { name });
  const link = `${publicUrl ?? ''}/admin/login/link?token=${issued.secret}`;
  const expiresAt = iso(issued.expiresAt);
  const fields: readonly Field[] = [
    ['link', link],
    ['', publicUrl === undefined ? 'It goes behind the address of the service (publicUrl).' : undefined],
    ['', `Good once. Whoever opens it is ${name}.`],
    ['expires', expiresAt],
  ];
  return {
    outcome: 'ok',
    document: { name, link, expiresAt },
    text: formatFields(fields, widthOf(context.stdout), paletteFor(context.stdout, context)),
  };
};

/** `paraph users end-local`. */
export const endLocal = async (
  operators: Pick<Operators, 'endLocal'>,
  { operator }: OperationsSession,
): Promise<Report> => {
  await operators.endLocal(operator);
  return {
    outcome: 'ok',
    document: { result: 'ended' },
    text: 'All sessions and links of local have ended.\n',
  };
};
