/**
 * Why a login to the console failed.
 *
 * declined    The provider of the organisation says that the person may not, or did not want to.
 * cancelled   The person said no, on the phone or on the page.
 * no-answer   The person did not answer in time.
 * phone-busy  The phone shows another request.
 * no-method   The number has no method that the console accepts.
 * activation  The number must be activated first.
 * failed      Another error of the provider.
 * over        This browser has no such login, or no longer.
 * away        The provider cannot be reached.
 */
export const loginProblems = [
  'declined',
  'cancelled',
  'no-answer',
  'phone-busy',
  'no-method',
  'activation',
  'failed',
  'over',
  'away',
] as const;
export type LoginProblem = (typeof loginProblems)[number];

/** The problems of a login, by the stable codes in `error_description` (oauth/error-codes.ts). */
const problems: ReadonlyMap<string, LoginProblem> = new Map([
  ['auth_3010', 'cancelled'],
  ['auth_3060', 'activation'],
  ['auth_3080', 'no-method'],
  ['auth_3300', 'no-answer'],
  ['auth_3310', 'phone-busy'],
  ['sys_9900', 'away'],
]);

/** @param description `mid_<group>_<code>_<trace> - <text>`. */
export const problemIn = (description: string): LoginProblem => {
  const code = /^mid_([a-z]+_\d{4})_/.exec(description)?.[1];
  return problems.get(code ?? '') ?? 'failed';
};
