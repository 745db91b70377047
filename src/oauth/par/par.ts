/**
 * Pushed authorisation requests. The checks run from cheap to costly and tell as little as
 * possible: limits come before secrets, an unknown client learns nothing about parameters, and
 * one-time values are used up last. The stored request is what the library's own endpoint would
 * have stored.
 *
 * Sources: RFC 9126; interface sections 2.6, 4.5 and 5.
 */
import { type Context, Hono } from 'hono';
import { isRedisAway, toError } from '../../../packages/engine/src/redis/to-error.ts';
import { randomBytesOf } from '../../../packages/pki/src/random.ts';
import type { Parameters } from '../../http/pages/form.ts';
import { readBody } from '../../http/pages/request-body.ts';
import type { OauthClient } from '../../registry/oauth-client.ts';
import type { Source } from '../../registry/rate-limiter.ts';
import type { OauthDeps, OauthEnvironment } from '../deps.ts';
import { type DpopProof, isFirstUse, readProof } from '../dpop-proof.ts';
import { createIdentify } from '../identify.ts';
import { storeAway } from '../store-away.ts';
import type { Tenant } from '../tenant.ts';
import {
  type Asker,
  answerHeaders,
  createRefusalAnswers,
  headersOf,
  type PushAnswer,
  preflightHeaders,
  present,
} from './answers.ts';
import { checkParameters } from './parameters.ts';
import { type Outcome, refuse } from './refusal.ts';
import { readRequestObject } from './request-object.ts';

export interface PushRequest {
  /** Undefined at the first tenant's address. */
  readonly tenantFromPath: Tenant | undefined;
  /** @param name In lower case. */
  header(name: string): string | undefined;
  readonly address: Source;
  readonly body: Uint8Array;
}

export type ParOptions = Pick<
  OauthDeps,
  'tenants' | 'checkSecret' | 'limits' | 'isTestNumber' | 'now' | 'log'
> & { readonly settings: { readonly requestUriSeconds: number } };

interface Accepted {
  readonly request: Readonly<Record<string, string>>;
  /** Authenticated, by the client's secret or key or by a signed request. */
  readonly trusted: boolean;
  readonly proof: DpopProof | undefined;
}

export const handlePrefix = 'urn:ietf:params:oauth:request_uri:';

/** The interface uses two times 128 bits; either half would be enough. */
const newHandle = (): string => {
  const random = randomBytesOf(32);
  return `${random.toString('base64url', 0, 16)}.${random.toString('base64url', 16)}`;
};

const unsignedHeader = Buffer.from('{"alg":"none"}').toString('base64url');

const unsignedJwt = (claims: object): string =>
  `${unsignedHeader}.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.`;

export const createPar = (options: ParOptions) => {
  const { tenants, limits, settings, isTestNumber, now, log } = options;
  const identify = createIdentify(options);
  const answerRefusal = createRefusalAnswers(options);

  /**
   * The tenant of the address or, at the first tenant's address, of one of two headers. What is
   * said more than once must agree (interface section 4.5).
   */
  const chooseTenant = ({ tenantFromPath, header }: PushRequest): Outcome<Tenant> => {
    const id = header('tenant-id');
    const issuer = header('issuer');
    const named = [
      ...(id === undefined ? [] : [tenants.find(id)]),
      ...(issuer === undefined ? [] : [tenants.findByIssuer(issuer)]),
    ];
    if (named.includes(undefined)) return refuse({ reason: 'tenantUnknown' });
    const said = [tenantFromPath, ...named].filter((tenant) => tenant !== undefined);
    const [tenant = tenants.main, ...others] = new Set(said);
    return others.length > 0 ? refuse({ reason: 'tenantsDisagree' }) : { value: tenant };
  };

  const effectiveParameters = async (
    tenant: Tenant,
    client: OauthClient,
    form: Parameters,
  ): Promise<Outcome<Parameters>> => {
    if (form.has('request_uri')) return refuse({ reason: 'requestUri' });
    const jwt = form.get('request');
    if (jwt !== undefined) return readRequestObject(jwt, client, tenant.issuer, now());
    return client.signedRequestRequired
      ? refuse({ reason: 'requestObjectMissing' })
      : { value: form };
  };

  const isIdTokenHint = async (
    tenant: Tenant,
    client: OauthClient,
    hint: string,
  ): Promise<boolean> => {
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
    { header, tenantFromPath }: PushRequest,
  ): Promise<Outcome<Accepted>> => {
    const parameters = await effectiveParameters(tenant, client, form);
    if ('refusal' in parameters) return parameters;
    const checked = checkParameters(parameters.value, { client, isTestNumber });
    if ('refusal' in checked) return checked;
    const request = checked.value;
    const { id_token_hint: idTokenHint, dpop_jkt: thumbprint } = request;
    if (idTokenHint !== undefined && !(await isIdTokenHint(tenant, client, idTokenHint))) {
      return refuse({ reason: 'idTokenHint' });
    }
    const trusted = proven || form.has('request');
    const dpop = header('dpop');
    if (dpop === undefined) return { value: { request, trusted, proof: undefined } };
    const { issuer } = tenantFromPath ?? tenants.main;
    const proof = await readProof(dpop, { method: 'POST', url: `${issuer}/par` }, now());
    if ('refusal' in proof) return proof;
    return thumbprint === undefined || thumbprint === proof.value.thumbprint
      ? { value: { request, trusted, proof: proof.value } }
      : refuse({ reason: 'proofOtherKey' });
  };

  /**
   * Stores a request as the library's own endpoint does: its parameters as an unsigned JWT, because
   * nobody else can write here. @returns The request_uri.
   */
  const keep = async (
    tenant: Tenant,
    client: OauthClient,
    { request, trusted, proof }: Accepted,
  ): Promise<string> => {
    const { PushedAuthorizationRequest } = await tenant.provider();
    const jti = newHandle();
    const at = Math.floor(now() / 1000);
    const exp = at + settings.requestUriSeconds;
    const claims = { ...request, iss: client.id, aud: tenant.issuer, iat: at, nbf: at, exp };
    const pushed = new PushedAuthorizationRequest({
      request: unsignedJwt(claims),
      dpopJkt: proof?.thumbprint ?? request.dpop_jkt,
    });
    // The published types lack `trusted`, and take `jti` for a list.
    Object.assign(pushed, { jti, trusted });
    await pushed.save(settings.requestUriSeconds);
    return `${handlePrefix}${jti}`;
  };

  const push = async (request: PushRequest): Promise<PushAnswer> => {
    const { tenantFromPath, header, address, body } = request;
    const origin = header('origin');
    const nobody: Asker = { tenant: tenantFromPath ?? tenants.main, origin };
    const choice = chooseTenant(request);
    if ('refusal' in choice) return answerRefusal(choice.refusal, nobody);
    const tenant = choice.value;
    const somebody: Asker = { tenant, origin };
    const identified = await identify(tenant, { header, address, body });
    if ('refusal' in identified) {
      return answerRefusal(identified.refusal, { ...somebody, ...identified.about });
    }
    const { form, client, proven } = identified;
    const asker: Asker = { ...somebody, client };
    const retryAfter = await limits.pushWait(tenant, client.id, proven ? undefined : address);
    if (retryAfter > 0) return answerRefusal({ reason: 'tooMany' }, { ...asker, retryAfter });
    const accepted = await check(tenant, client, proven, form, request);
    if ('refusal' in accepted) return answerRefusal(accepted.refusal, asker);
    const { proof } = accepted.value;
    if (proof !== undefined && !(await isFirstUse(tenant, proof, now()))) {
      return answerRefusal({ reason: 'proofReplayed' }, asker);
    }
    const requestUri = await keep(tenant, client, accepted.value);
    log.audit({ event: 'request pushed', tenant: tenant.id, clientId: client.id });
    return {
      status: client.parSuccessStatus,
      headers: answerHeaders(asker),
      body: { request_uri: requestUri, expires_in: settings.requestUriSeconds },
    };
  };

  return { push, refuse: answerRefusal };
};

export type Par = ReturnType<typeof createPar>;

export const createParRoutes = (
  options: ParOptions & Pick<OauthDeps, 'addressOf' | 'body'>,
): Hono<OauthEnvironment> => {
  const { tenants, addressOf, body: bodyLimits, log } = options;
  const par = createPar(options);

  const answer = async (
    c: Context<OauthEnvironment>,
    tenantFromPath: Tenant | undefined,
  ): Promise<Response> => {
    const incoming = c.env?.incoming;
    const header = headersOf(c.req, incoming);
    const tenant = tenantFromPath ?? tenants.main;
    const origin = header('origin');
    const { method } = c.req;
    if (method === 'OPTIONS' && header('access-control-request-method') !== undefined) {
      const requested = header('access-control-request-headers');
      const asked = tenantFromPath === undefined ? tenants.all : [tenantFromPath];
      return new Response(null, {
        status: 204,
        headers: preflightHeaders(origin, requested, asked),
      });
    }
    if (method !== 'POST')
      return present(par.refuse({ reason: 'methodNotAllowed' }, { tenant, origin }));
    try {
      const read = await readBody(c.req.raw, incoming, bodyLimits);
      if (!read.ok) return present(par.refuse({ reason: read.reason }, { tenant, origin }));
      return present(
        await par.push({ tenantFromPath, header, address: addressOf(incoming), body: read.bytes }),
      );
    } catch (error) {
      log.trouble(toError(error));
      return present(
        isRedisAway(error)
          ? par.refuse(
              { reason: 'storeAway' },
              { tenant, origin, retryAfter: storeAway.retryAfter },
            )
          : par.refuse({ reason: 'broken' }, { tenant, origin }),
      );
    }
  };

  const routes = new Hono<OauthEnvironment>();
  routes.all('/oidc/par', (c) => answer(c, undefined));
  routes.all('/oidc/t/:tenant/par', (c, next) => {
    const tenant = tenants.at(c.req.param('tenant'));
    return tenant === undefined ? next() : answer(c, tenant);
  });
  return routes;
};
