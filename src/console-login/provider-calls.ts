/** What the console asks the provider directly: the pushed request, and the tokens for a code. */
import { consoleClientId } from '../registry/console-client.ts';
import type { ClientKey } from './client-key.ts';

/** Asks this very service, without a way over the network. @param path Path and query. */
export type OwnFetch = (path: string, init?: RequestInit) => Promise<Response>;

export interface ProviderCalls {
  /** @returns `request_uri`; undefined with the error when the provider did not take the request. */
  push(fields: Readonly<Record<string, string>>): Promise<Answer<'request_uri'>>;
  redeem(fields: Readonly<Record<string, string>>): Promise<Answer<'id_token' | 'access_token'>>;
}

/** Members that were asked for, all of them texts; otherwise the name of the OAuth error, or the status. */
export type Answer<Member extends string> =
  | ({ readonly ok: true } & Readonly<Record<Member, string>>)
  | { readonly ok: false; readonly error: string };

const timeoutMs = 10_000;
const errorName = /^[a-z_]{1,40}$/;

const objectIn = async (response: Response): Promise<Readonly<Record<string, unknown>>> => {
  const value: unknown = await response.json().catch(() => undefined);
  return typeof value === 'object' && value !== null ? { ...value } : {};
};

export const createProviderCalls = ({
  key,
  provider,
  fetch,
}: {
  readonly key: ClientKey;
  /** `path`: of the issuer, without a slash at its end. */
  readonly provider: () => { readonly issuer: string; readonly path: string };
  readonly fetch: OwnFetch;
}): ProviderCalls => {
  const post = async <Member extends string>(
    endpoint: '/par' | '/token',
    fields: Readonly<Record<string, string>>,
    members: readonly Member[],
  ): Promise<Answer<Member>> => {
    const { issuer, path } = provider();
    const body = new URLSearchParams({
      client_id: consoleClientId,
      client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
      client_assertion: await key.assertion(issuer),
      ...fields,
    });
    const response = await fetch(`${path}${endpoint}`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: body.toString(),
      signal: AbortSignal.timeout(timeoutMs),
    });
    const answer = await objectIn(response);
    const texts = Object.fromEntries(members.map((member) => [member, answer[member]]));
    if (response.ok && Object.values(texts).every((text) => typeof text === 'string')) {
      return { ok: true as const, ...(texts as Record<Member, string>) };
    }
    const { error } = answer;
    const isNamed = typeof error === 'string' && errorName.test(error);
    return { ok: false, error: isNamed ? error : `status ${response.status}` };
  };

  return {
    push: (fields) => post('/par', fields, ['request_uri']),
    redeem: (fields) => post('/token', fields, ['id_token', 'access_token']),
  };
};
