/**
 * Finds out which client sends a form, in the same way for `/par` and for the library's endpoints:
 * the same limits, the same rule, the same answers. Limits come before secrets.
 */
import { isForm, type Parameters, parseForm } from '../http/pages/form.ts';
import type { OauthClient } from '../registry/oauth-client.ts';
import type { Source } from '../registry/rate-limiter.ts';
import { createClientAuthentication } from './client-authentication.ts';
import type { OauthDeps } from './deps.ts';
import { soonSeconds } from './limits.ts';
import type { Asker } from './par/answers.ts';
import { nameOurs } from './par/parameters.ts';
import type { ParRefusal } from './par/refusal.ts';
import type { Tenant } from './tenant.ts';

export interface SentForm {
  /** @param name In lower case. */
  header(name: string): string | undefined;
  readonly address: Source;
  readonly body: Uint8Array;
}

export type Identified =
  | {
      readonly form: Parameters;
      readonly client: OauthClient;
      /** False for a public client, which anyone can claim to be. */
      readonly proven: boolean;
    }
  | {
      readonly refusal: ParRefusal;
      /** What the answer needs besides. */
      readonly about: Partial<Asker>;
    };

const refused = (refusal: ParRefusal, about: Partial<Asker> = {}): Identified => ({
  refusal,
  about,
});

export const createIdentify = ({
  checkSecret,
  limits,
  extensions,
  now,
}: Pick<OauthDeps, 'checkSecret' | 'limits' | 'extensions' | 'now'>) => {
  const authenticate = createClientAuthentication(checkSecret, now, extensions);

  return async (tenant: Tenant, { header, address, body }: SentForm): Promise<Identified> => {
    if (!isForm(header('content-type'))) return refused({ reason: 'bodyKind' });
    const shutOut = limits.shutOutWait(address);
    if (shutOut > 0) return refused({ reason: 'tooMany' }, { retryAfter: shutOut });
    const parsed = parseForm(body);
    if (!parsed.ok) return refused(nameOurs(parsed));
    const { form } = parsed;
    if (form.size === 0) return refused({ reason: 'nothingSent' });
    const authorization = header('authorization');
    const verdict = await authenticate(tenant, {
      authorization,
      clientId: form.get('client_id'),
      clientSecret: form.get('client_secret'),
      clientAssertion: form.get('client_assertion'),
      clientAssertionType: form.get('client_assertion_type'),
      address,
    });
    if (!verdict.ok) {
      const { reason, claimed } = verdict;
      if (reason === 'clientRefused') limits.noteFailure(address, tenant, claimed?.id);
      const retryAfter = limits.barredWait(address, tenant, claimed?.id ?? '') || soonSeconds;
      return refused(
        { reason },
        {
          client: claimed,
          triedBasic: authorization !== undefined,
          ...(reason === 'tooMany' && { retryAfter }),
        },
      );
    }
    const { client, proven } = verdict;
    return (form.get('client_id') ?? client.id) === client.id
      ? { form, client, proven }
      : refused({ reason: 'otherClient' }, { client });
  };
};
