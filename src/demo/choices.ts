/**
 * What a visitor has chosen on the first page, read from the form. Whatever is not among the choices is as if it had not been
 * chosen: the form cannot send it, and the provider would refuse it in its own words.
 */
import {
  type AcrValue,
  acrValues,
  type LoginLanguage,
  loginLanguages,
  type OauthScope,
  oauthScopes,
} from '../registry/oauth-client.ts';

export const demoClientIds = ['demo', 'demo-public', 'demo-201'] as const;
export type DemoClientId = (typeof demoClientIds)[number];

export interface Choices {
  readonly clientId: DemoClientId;
  /** As the visitor wrote it; empty when the login page should ask for it. */
  readonly number: string;
  readonly scopes: readonly OauthScope[];
  readonly acrValue: AcrValue | undefined;
  readonly language: LoginLanguage | undefined;
  /** Go to the login page at once, without a look at the pushed request. */
  readonly straight: boolean;
}

export const firstChoices: Choices = {
  clientId: 'demo',
  number: '+41700092501',
  scopes: ['openid', 'profile', 'phone'],
  acrValue: undefined,
  language: undefined,
  straight: false,
};

/** Longer ones are no numbers, and would not fit into the cookie. */
const longestNumber = 40;

const among = <T extends string>(known: readonly T[], text: string | null): T | undefined =>
  known.find((value) => value === text);

export const readChoices = (form: URLSearchParams): Choices => {
  const asked = form.getAll('scope');
  const written = (form.get('other') ?? '').trim();
  return {
    clientId: among(demoClientIds, form.get('client')) ?? firstChoices.clientId,
    number: (written || (form.get('number') ?? '').trim()).slice(0, longestNumber),
    scopes: oauthScopes.filter((scope) => scope === 'openid' || asked.includes(scope)),
    acrValue: among(acrValues, form.get('acr')),
    language: among(loginLanguages, form.get('language')),
    straight: form.has('straight'),
  };
};
