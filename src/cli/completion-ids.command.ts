/**
 * `paraph completion-ids aps|instances`: ids of the service, one a line, for the completion of
 * shells.
 *
 * Whoever presses Tab does not want to wait or to read an error in the line that is typed: a
 * service that is away or refuses gives no ids, without a word, and within a second and a half.
 */
import { Argument } from 'commander';
import { settlesWithin } from '../../packages/engine/src/settles-within.ts';
import { type Admin, type AdminFlags, addAdminOptions, withAdmin } from '../command-line/admin.ts';
import { type AddCommand, type CliContext, ok, type Report } from '../command-line/context.ts';
import { printable } from '../command-line/screen.ts';
import { parseOneOf } from '../command-line/transactions-filter.ts';
import { type IdKind, idKinds } from '../command-line/values.ts';

const patienceMs = 1500;
const maxInstances = 50;

/** An application may use a phone number in its ids, and a shell keeps what is completed. */
const hasNumber = (id: string): boolean => /(?<!\w)\+?\d{7,15}(?!\w)/.test(id);

const read: Readonly<Record<IdKind, (admin: Admin) => Promise<readonly string[]>>> = {
  aps: async (admin) => {
    const { aps } = await admin.get<{ readonly aps: readonly { readonly id: string }[] }>(['aps']);
    return aps.map(({ id }) => id);
  },
  instances: async (admin) => {
    const path = ['workflows'];
    const { rows } = await admin.get<{ readonly rows: readonly { readonly instanceId: string }[] }>(
      path,
      { limit: maxInstances },
    );
    return rows.map(({ instanceId }) => instanceId);
  },
};

const idsOf = async (
  context: CliContext,
  kind: IdKind,
  flags: AdminFlags,
): Promise<readonly string[]> => {
  let found: readonly string[] = [];
  const silent: CliContext = { ...context, stderr: { write: () => undefined } };
  const asked = withAdmin(silent, flags, { files: false, secrets: false }, async (admin) => {
    found = await read[kind](admin);
    return ok({}, '');
  });
  await settlesWithin(asked, patienceMs);
  // One id a line: whatever would break the line is no id.
  return found.filter((id) => id === printable(id) && !/\s/.test(id) && !hasNumber(id));
};

const completionIds = async (
  context: CliContext,
  kind: IdKind,
  flags: AdminFlags,
): Promise<Report> => {
  const ids = await idsOf(context, kind, flags);
  return ok({ ids }, ids.map((id) => `${id}\n`).join(''));
};

export const addCompletionIds: AddCommand = (program, context, done) => {
  const command = program
    .command('completion-ids')
    .description('print ids of the service, as the completion of shells asks for them')
    .addArgument(
      new Argument('<kind>', idKinds.join(' or ')).argParser(parseOneOf('The kind', idKinds)),
    );
  addAdminOptions(command).action(async (kind: IdKind, flags: AdminFlags) =>
    done(await completionIds(context, kind, flags)),
  );
};
