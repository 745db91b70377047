/**
 * A browser at an address of its login: the client, the request, and the library's interaction. The
 * cookie decides, and the address must agree with it, so a link to another login shows nothing.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { InteractionResults, Provider } from 'oidc-provider';
import { chooseLanguage } from '../../http/pages/language.ts';
import type { PageLanguage } from '../../http/pages/languages.ts';
import type { AcrValue, OauthClient } from '../../registry/oauth-client.ts';
import type { Source } from '../../registry/rate-limiter.ts';
import { parseAcrValues } from '../evidence.ts';
import { isHinted } from '../interaction-policy.ts';
import { errors, readText } from '../library.ts';
import { type Offer, toOffer } from '../login-hint.ts';
import { pinToIssuer } from '../mount.ts';
import type { Tenant } from '../tenant.ts';
import { createLoginFacts, type LoginFacts, progressOf } from './facts.ts';

export type Interaction = Awaited<ReturnType<Provider['interactionDetails']>>;

/** A login, as far as it takes to ask a phone. */
export interface BegunVisit {
  readonly tenant: Tenant;
  readonly client: OauthClient;
  readonly uid: string;
  /** The path of the login's page, without a slash at its end. */
  readonly pagePath: string;
  readonly language: PageLanguage;
  readonly acrValues: readonly AcrValue[];
  /** The requested ones that the client may have. */
  readonly scopes: readonly string[];
  readonly dtbd: string | undefined;
  readonly offer: Offer;
  /** Whether this account fits the `id_token_hint`. */
  readonly isExpected: (account: string) => boolean;
  readonly address: Source;
  readonly facts: LoginFacts;
  readonly ttlSeconds: number;
}

export interface Visit extends BegunVisit {
  /** @returns Undefined when the library has moved on: the login is over. */
  interaction(): Promise<Interaction | undefined>;
  /** Stores the result, which the library reads when the browser resumes. */
  conclude(interaction: Interaction, result: InteractionResults): Promise<void>;
}

/** Facts are kept a little longer than the interaction, for late requests. */
const afterwardsSeconds = 60;

/** The handle of a pushed request. Links that were not pushed can be written by anyone. */
export const handleOf = (interaction: Interaction): string | undefined =>
  'parJti' in interaction ? readText(interaction.parJti) : undefined;

interface Surroundings {
  readonly isTestNumber: (msisdn: string) => boolean;
  readonly now: () => number;
}

/** What a browser says of itself. */
interface Browser {
  readonly acceptLanguage: string | undefined;
  readonly address: Source;
}

/** @returns Undefined when the client was removed from the configuration meanwhile. */
const readVisit = (
  tenant: Tenant,
  interaction: Interaction,
  { acceptLanguage, address }: Browser,
  { isTestNumber, now }: Surroundings,
): BegunVisit | undefined => {
  const { params, uid } = interaction;
  const client = tenant.clients.get(readText(params.client_id) ?? '');
  if (client === undefined) return undefined;
  const pushed = handleOf(interaction) !== undefined;
  const mayHave = new Set<string>(client.scopes);
  return {
    tenant,
    client,
    uid,
    pagePath: `${tenant.path}/interaction/${uid}`,
    language: chooseLanguage(readText(params.ui_locales), acceptLanguage),
    acrValues: parseAcrValues(params.acr_values),
    scopes: (readText(params.scope) ?? '').split(' ').filter((scope) => mayHave.has(scope)),
    dtbd: client.dtbdAllowed && pushed ? readText(params.dtbd) : undefined,
    offer: toOffer(
      readText(params.login_hint),
      { allowed: client.loginHintAllowed, pushed },
      isTestNumber,
    ),
    isExpected: (account) => isHinted(params.id_token_hint, tenant.subjectOf(account, client)),
    address,
    facts: createLoginFacts(tenant.store),
    ttlSeconds: interaction.exp - Math.floor(now() / 1000) + afterwardsSeconds,
  };
};

/**
 * A login that begins elsewhere than in the browser that a request comes from.
 *
 * @returns Undefined when it is unknown or over.
 */
export const findVisit = async (
  tenant: Tenant,
  uid: string,
  browser: Browser,
  surroundings: Surroundings,
): Promise<BegunVisit | undefined> => {
  const interaction = await (await tenant.provider()).Interaction.find(uid);
  return interaction && readVisit(tenant, interaction, browser, surroundings);
};

/**
 * When another person has logged in with this browser before, that session ends with the new login.
 * Otherwise the library would ask the browser to log out first.
 *
 * @returns `done` when the browser has gone back to the client, perhaps in another tab.
 */
export const openVisit = async (
  tenant: Tenant,
  uid: string,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  address: Source,
  surroundings: Surroundings,
): Promise<Visit | 'done' | 'login-expired' | 'cookie-missing'> => {
  const provider = await tenant.provider();
  pinToIssuer(incoming, tenant);

  const find = async (): Promise<Interaction | undefined> => {
    try {
      const interaction = await provider.interactionDetails(incoming, outgoing);
      return interaction.uid === uid ? interaction : undefined;
    } catch (error) {
      if (error instanceof errors.SessionNotFound) return undefined;
      throw error;
    }
  };

  const facts = createLoginFacts(tenant.store);
  const hasCookie = (incoming.headers.cookie ?? '').includes(
    `${provider.cookieName('interaction')}=`,
  );
  if (hasCookie) facts.readAhead(uid);
  const interaction = await find();
  if (interaction === undefined) {
    if (hasCookie && progressOf(await facts.read(uid)).ending !== undefined) return 'done';
    return hasCookie ? 'login-expired' : 'cookie-missing';
  }
  const acceptLanguage = incoming.headers['accept-language'];
  const begun = readVisit(tenant, interaction, { acceptLanguage, address }, surroundings);
  if (begun === undefined) return 'login-expired';

  return {
    ...begun,
    facts,
    interaction: find,
    conclude: async (current, result) => {
      const session = await provider.Session.get(provider.createContext(incoming, outgoing));
      const isOthers =
        result.login !== undefined &&
        session.accountId !== undefined &&
        session.accountId !== result.login.accountId;
      current.result = result;
      if (isOthers) current.session = undefined;
      await current.persist();
      // Last: the library refuses an interaction that names a session which is gone.
      if (isOthers) await session.destroy();
    },
  };
};
