/** By which phone a user logs in to the console: flags, and who a number is there. */
import { type CliContext, type Report, UsageProblem } from './context.ts';
import { existingMasterKey } from './operations-master-key.ts';
import type { OperationsSession } from './operations-session.ts';

export interface PhoneFlags {
  readonly msisdn?: string;
  readonly oidcSubject?: string;
}

/**
 * The `sub` that the flags stand for. The number itself goes no further.
 *
 * @returns Undefined without a flag.
 * @throws UsageProblem For what is no number, for both flags, and where logins with the phone are off.
 */
export const subjectIn = async (
  context: CliContext,
  { configuration }: OperationsSession,
  { msisdn, oidcSubject }: PhoneFlags,
): Promise<string | undefined> => {
  if (msisdn === undefined) return oidcSubject;
  if (oidcSubject !== undefined) throw new UsageProblem('Give either --msisdn or --oidc-subject.');
  const { enabled, tenant } = configuration.operations.openid;
  if (!enabled) throw new UsageProblem('Logins with the phone are off (operations.openid.enabled).');
  const { createSubjects } = await import('../console-login/subjects.ts');
  const subject = createSubjects(await existingMasterKey(context), tenant)(msisdn);
  if (subject === undefined) throw new UsageProblem('--msisdn must be a number with its country code.');
  return subject;
};

/** `paraph users subject`. */
export const showSubject = async (
  context: CliContext,
  session: OperationsSession,
  flags: Required<Pick<PhoneFlags, 'msisdn'>>,
): Promise<Report> => {
  const oidcSubject = (await subjectIn(context, session, flags)) ?? '';
  return { outcome: 'ok', document: { oidcSubject }, text: `${oidcSubject}\n` };
};
