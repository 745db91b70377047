/** Says in words what is wrong with an input or an event, from an error of any kind. */
import { isInputError } from './define.ts';
import { type About, issuesIn, sayIssues } from './issues.ts';
import { isUnstorable } from './values.ts';

/** @returns One line; undefined for an error that is not about a value. */
export const problemIn = (error: unknown, about: About): string | undefined => {
  if (isInputError(error) || isUnstorable(error)) return error.message;
  const issues = issuesIn((Object(error) as { readonly issues?: unknown }).issues);
  return issues.length === 0 ? undefined : sayIssues(issues, about);
};
