/**
 * The discovery document of a provider, fetched when a login needs it and kept for ten minutes.
 * When the provider does not answer, the last document stays in use, and the provider is asked
 * again after five seconds at the earliest, so that many visitors do not wait one after the other.
 *
 * Source: OpenID Connect Discovery 1.0, 3 and 4; RFC 9207 3 (`iss` in answers).
 */
import { z } from 'zod';
import { createKeptFetch } from '../../../packages/relying-party/src/kept-fetch.ts';
import { fetchJson } from '../../../packages/relying-party/src/read-json.ts';
import { isSecureAddress } from '../../registry/web-address.ts';

const address = z.string().refine(isSecureAddress);

const documentSchema = z.object({
  issuer: z.string(),
  authorization_endpoint: address,
  token_endpoint: address,
  jwks_uri: address,
  pushed_authorization_request_endpoint: address.optional(),
  require_pushed_authorization_requests: z.boolean().default(false),
  token_endpoint_auth_methods_supported: z.array(z.string()).default(['client_secret_basic']),
  id_token_signing_alg_values_supported: z.array(z.string()).default(['RS256']),
  authorization_response_iss_parameter_supported: z.boolean().default(false),
});
export type Discovered = z.output<typeof documentSchema>;

const timeoutMs = 5000;
const maxAgeMs = 600_000;
const cooldownMs = 5000;

export const createDiscovery = ({
  issuer,
  fetch,
  now,
}: {
  readonly issuer: string;
  readonly fetch: (address: string, init: RequestInit) => Promise<Response>;
  readonly now: () => number;
}) => {
  const url = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
  const read = async (): Promise<Discovered | string> => {
    const fetched = await fetchJson(url, 'application/json', fetch, timeoutMs);
    if (typeof fetched === 'string')
      return `its discovery document could not be fetched: ${fetched}`;
    const parsed = documentSchema.safeParse(fetched.value);
    if (!parsed.success) {
      const member = z.core.toDotPath(parsed.error.issues[0]?.path ?? []);
      return `its discovery document is not usable${member === '' ? '' : `: ${member}`}`;
    }
    // Otherwise the document of another party would count for this issuer.
    return parsed.data.issuer === issuer
      ? parsed.data
      : 'its discovery document is that of another issuer';
  };

  const kept = createKeptFetch({ fetch: read, now, cooldownMs });

  return {
    /** @returns The document; or, as a text for the log, why there is none. Never rejects. */
    find: async (): Promise<Discovered | string> => {
      if (kept.isOlderThan(maxAgeMs)) await kept.refresh();
      return kept.value() ?? kept.failure() ?? 'it was not asked yet';
    },
  };
};
