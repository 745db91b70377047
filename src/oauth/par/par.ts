/**
 * Pushed authorisation requests: who asks, what for, and a handle for it.
 *
 * The order is that of cost and of what it tells: an address that asks too often is turned away before a secret is compared, an
 * unknown client learns nothing about parameters, and whatever can be used once is used up only when all else is right. What
 * comes out is what the library's own endpoint would have kept, in one sealed write.
 *
 * Sources: RFC 9126; interface sections 2.6, 4.5 and 5.
 */
import type { OauthClient } from '../../registry/oauth-client.ts';
import type { Source } from '../../registry/rate-limiter.ts';
import { createClientAuthentication, type SecretCheck } from '../client-authentication.ts';
import type { Limits } from '../limits.ts';
import type { OauthLog } from '../log.ts';
import type { Refusals } from '../refusals.ts';
import type { Tenant, Tenants } from '../tenant.ts';
import { type Asker, answerHeaders, createRefusalAnswers, type PushAnswer } from './answers.ts';
import { chooseTenant } from './choose-tenant.ts';
import { type DpopProof, readProof } from './dpop-proof.ts';
import { isForm, type Parameters, parseForm } from './form.ts';
import { keepRequest } from './keep-request.ts';
import { checkParameters, keptParameters } from './parameters.ts';
import type { Refusal } from './refusal.ts';
import { readRequestObject } from './request-object.ts';

export interface PushRequest {
  /** Undefined at the first tenant's address. */
  readonly tenantFromPath: Tenant | undefined;
  /** @param name In lower case. */
  header(name: string): string | undefined;
  /** Where it comes from, for limits. */
  readonly address: Source;
  readonly body: Uint8Array;
  readonly contentType: string | undefined;
  /** Of the endpoint that it was sent to, as configured. */
  readonly url: string;
}

export interface Par {
  /** @throws When Redis is unreachable. */
  push(request: PushRequest): Promise<PushAnswer>;
  /** The answer to a request that came to nothing, and its audit entry. */
  refuse(refusal: Refusal, asker: Asker): PushAnswer;
}

export interface ParOptions {
  readonly tenants: Tenants;
  readonly checkSecret: SecretCheck;
  readonly limits: Limits;
  readonly refusals: Refusals;
  readonly requestUriSeconds: number;
  readonly isTestNumber: (msisdn: string) => boolean;
  readonly now: () => number;
  readonly log: OauthLog;
}

/** What can be told only together with the library, or once. */
interface Accepted {
  readonly request: Readonly<Record<string, string>>;
  /** Authenticated, by its secret or key or by a signed request. */
  readonly trusted: boolean;
  readonly proof: DpopProof | undefined;
}

type Outcome<Value> = { readonly value: Value } | { readonly refusal: Refusal };

const refuse = (refusal: Refusal): { readonly refusal: Refusal } => ({ refusal });

const ourNames: ReadonlySet<string> = new Set([
  ...keptParameters,
  'request',
  'request_uri',
  'registration',
  'client_secret',
  'client_assertion',
  'client_assertion_type',
]);

const refusalReasons = {
  severalMethods: 'severalMethods',
  assertionType: 'assertionType',
  unnamed: 'clientUnnamed',
  refused: 'clientRefused',
  busy: 'tooMany',
} as const;

export const createPar = (options: ParOptions): Par => {
  const { tenants, limits, refusals, requestUriSeconds, isTestNumber, now, log } = options;
  const authentication = createClientAuthentication(options);

  const answerRefusal = createRefusalAnswers(options);

  const authenticate = async (
    tenant: Tenant,
    form: Parameters,
    authorization: string | undefined,
    address: Source,
  ): Promise<
    | { readonly client: OauthClient; readonly proven: boolean }
    | { readonly refusal: Refusal; readonly claimed: OauthClient | undefined }
  > => {
    const verdict = await authentication.authenticate(tenant, {
      authorization,
      clientId: form.get('client_id'),
      clientSecret: form.get('client_secret'),
      clientAssertion: form.get('client_assertion'),
      clientAssertionType: form.get('client_assertion_type'),
      address,
    });
    if (verdict.ok) return verdict;
    const { reason, claimed } = verdict;
    return { refusal: { reason: refusalReasons[reason] }, claimed };
  };

  const effectiveParameters = async (
    tenant: Tenant,
    client: OauthClient,
    form: Parameters,
  ): Promise<Outcome<Parameters>> => {
    if (form.has('request_uri')) return refuse({ reason: 'requestUri' });
    const jwt = form.get('request');
    if (jwt === undefined) {
      return client.signedRequestRequired ? refuse({ reason: 'requestObjectMissing' }) : { value: form };
    }
    const object = await readRequestObject(jwt, client, tenant.issuer, now());
    return object.ok
      ? { value: object.parameters }
      : refuse({ reason: 'requestObject', problem: object.problem });
  };

  const readDpop = async (
    header: string | undefined,
    thumbprint: string | undefined,
    url: string,
  ): Promise<Outcome<DpopProof | undefined>> => {
    if (header === undefined) return { value: undefined };
    const proof = await readProof(header, url, now());
    if (!proof.ok) return refuse({ reason: 'dpopProof', problem: proof.problem });
    return thumbprint === undefined || thumbprint === proof.thumbprint
      ? { value: proof }
      : refuse({ reason: 'dpopProof', problem: 'otherKey' });
  };

  /** The library knows its own tokens. */
  const isIdTokenHint = async (tenant: Tenant, client: OauthClient, hint: string): Promise<boolean> => {
    const { Client, IdToken } = await tenant.provider();
    const registered = await Client.find(client.id);
    if (registered === undefined) return false;
    try {
      await IdToken.validate(hint, registered);
      return true;
    } catch {
      return false;
    }
  };

  const check = async (
    tenant: Tenant,
    client: OauthClient,
    proven: boolean,
    form: Parameters,
    { header, url }: PushRequest,
  ): Promise<Outcome<Accepted>> => {
    const parameters = await effectiveParameters(tenant, client, form);
    if ('refusal' in parameters) return parameters;
    const checked = checkParameters(parameters.value, { client, isTestNumber });
    if (!checked.ok) return checked;
    const { request } = checked;
    const { id_token_hint: idTokenHint, dpop_jkt: thumbprint } = request;
    if (idTokenHint !== undefined && !(await isIdTokenHint(tenant, client, idTokenHint))) {
      return refuse({ reason: 'idTokenHint' });
    }
    const proof = await readDpop(header('dpop'), thumbprint, url);
    if ('refusal' in proof) return proof;
    return { value: { request, trusted: proven || form.has('request'), proof: proof.value } };
  };

  const isFirstUse = (
    { store }: Tenant,
    client: OauthClient,
    { jti, rememberUntil }: DpopProof,
  ): Promise<boolean> =>
    store.putOnce('dpop-proof', `${client.id} ${jti}`, 1, rememberUntil - now() / 1000 + 1);

  const push = async (request: PushRequest): Promise<PushAnswer> => {
    const { tenantFromPath, header, address, body, contentType } = request;
    const origin = header('origin');
    const nobody: Asker = { tenant: tenantFromPath ?? tenants.main, origin };
    if (!isForm(contentType)) return answerRefusal({ reason: 'bodyKind' }, nobody);
    const choice = chooseTenant(tenants, tenantFromPath, header);
    if (!choice.ok) return answerRefusal({ reason: choice.reason }, nobody);
    const { tenant } = choice;
    const somebody: Asker = { tenant, origin };
    if (refusals.isShutOut(address)) return answerRefusal({ reason: 'tooMany' }, somebody);
    const parsed = parseForm(body);
    if (!parsed.ok) {
      const refusal: Refusal =
        parsed.reason === 'parameterRepeated'
          ? { reason: parsed.reason, name: ourNames.has(parsed.name) ? parsed.name : undefined }
          : { reason: parsed.reason };
      return answerRefusal(refusal, somebody);
    }
    const { form } = parsed;
    if (form.size === 0) return answerRefusal({ reason: 'nothingSent' }, somebody);

    const authorization = header('authorization');
    const authenticated = await authenticate(tenant, form, authorization, address);
    if ('refusal' in authenticated) {
      if (authenticated.refusal.reason === 'clientRefused') {
        refusals.note(address, tenant, authenticated.claimed?.id);
      }
      const triedBasic = authorization !== undefined;
      const asker = { ...somebody, client: authenticated.claimed, triedBasic };
      return answerRefusal(authenticated.refusal, asker);
    }
    const { client, proven } = authenticated;
    const asker: Asker = { ...somebody, client };
    if ((form.get('client_id') ?? client.id) !== client.id) {
      return answerRefusal({ reason: 'otherClient' }, asker);
    }
    if (!(await limits.mayPush(tenant, client.id, proven ? undefined : address))) {
      return answerRefusal({ reason: 'tooMany' }, asker);
    }
    const accepted = await check(tenant, client, proven, form, request);
    if ('refusal' in accepted) return answerRefusal(accepted.refusal, asker);
    const { proof } = accepted.value;
    if (proof !== undefined && !(await isFirstUse(tenant, client, proof))) {
      return answerRefusal({ reason: 'dpopProof', problem: 'replayed' }, asker);
    }
    const requestUri = await keepRequest(tenant, client, {
      request: accepted.value.request,
      trusted: accepted.value.trusted,
      dpopJkt: proof?.thumbprint ?? accepted.value.request.dpop_jkt,
      at: Math.floor(now() / 1000),
      lifeSeconds: requestUriSeconds,
    });
    log.audit({ event: 'request pushed', tenant: tenant.id, clientId: client.id });
    return {
      status: client.parSuccessStatus,
      headers: answerHeaders(asker),
      body: { request_uri: requestUri, expires_in: requestUriSeconds },
    };
  };

  return { push, refuse: answerRefusal };
};
