/**
 * What the stable codes in `error_description` mean, in words for somebody who tries things out.
 *
 * `mid_<group>_<code>_<trace> - <text>`
 */
const meanings: ReadonlyMap<string, string> = new Map([
  ['req_1010', 'acr_values names a level that does not exist.'],
  ['req_1020', 'acr_values is no list of names with single spaces between them.'],
  ['req_1030', 'ui_locales names a language that does not exist.'],
  ['req_1040', 'ui_locales is no list of language tags.'],
  ['req_1050', 'login_hint has no number in it.'],
  ['req_1070', 'The number in login_hint is none: 8 to 15 digits with the country code are expected.'],
  ['req_1080', 'login_hint has the same number twice.'],
  ['req_1100', 'login_hint is neither a number nor JSON of the expected form.'],
  ['req_1110', 'The scope is not usable: openid is missing, or one does not exist.'],
  ['req_1130', 'The request was empty.'],
  ['req_1900', 'Something else is wrong with the request; the text says what.'],
  ['sec_2010', 'The client may not ask for one of these scopes.'],
  ['sec_2020', 'The client may not ask for this level.'],
  ['sec_2030', 'The client may not send one of these parameters.'],
  ['auth_3010', 'The person cancelled, on the phone or on the page.'],
  ['auth_3060', 'The account of the number has to be activated first.'],
  ['auth_3080', 'The number has nothing that could log in at the requested level.'],
  ['auth_3300', 'The person did not answer in time.'],
  ['auth_3310', 'The phone is busy with another request.'],
  ['auth_3900', 'The person could not be authenticated; the login page has said why.'],
  ['sys_9900', 'The service itself failed.'],
]);

export interface ExplainedError {
  /** `auth_3010`; undefined for a description without a code. */
  readonly code: string | undefined;
  readonly meaning: string;
}

export const explainError = (description: string): ExplainedError => {
  const code = /^mid_((?:req|sec|auth|sys)_\d{4})_/.exec(description)?.[1];
  const meaning = code === undefined ? undefined : meanings.get(code);
  return { code, meaning: meaning ?? 'The provider refused the request; its text says why.' };
};
