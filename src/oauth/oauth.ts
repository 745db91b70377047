/**
 * The OpenID provider as routes under `/oidc`: `/par` and the pages are ours, the rest belongs to
 * the library. Only listed paths reach it, so a new endpoint of a later version is not open by
 * surprise.
 */
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { type Context, Hono } from 'hono';
import { isRedisAway, toError } from '../../packages/engine/src/redis/to-error.ts';
import type { KeyVault } from '../../packages/pki/src/ports.ts';
import { deriveKey } from '../../packages/pki/src/sealed-json.ts';
import type { OauthTenant } from '../registry/oauth-client.ts';
import type { PasswordVerifier } from '../registry/password-verifier.ts';
import type { RateLimiter } from '../registry/rate-limiter.ts';
import type { OwnerOf } from './claims.ts';
import { createSecretCheck } from './client-authentication.ts';
import type { OauthDeps, OauthEnvironment } from './deps.ts';
import { describeError } from './error-codes.ts';
import { type FrontRefusal, jsonError, refuseAtFront } from './error-pages.ts';
import type { ExtendOauth, OpenedExtension } from './extension.ts';
import { checkFrontChannel, linkOf, maxQueryLength, tooLong } from './front-channel.ts';
import { createInteractionRoutes } from './interaction/interaction.route.ts';
import { createLimits } from './limits.ts';
import { pathAndQuery, serveByLibrary } from './mount.ts';
import { openTenants, type TenantsOptions } from './open-tenants.ts';
import { createParRoutes } from './par/par.ts';
import { createProgramEndpoints } from './program-endpoints.ts';
import { storeAway } from './store-away.ts';
import type { Tenant } from './tenant.ts';

export interface OauthOptions
  extends Omit<OauthDeps, 'tenants' | 'limits' | 'checkSecret' | 'extensions'>,
    Pick<TenantsOptions, 'redis' | 'prefix'> {
  /** What parts add. */
  readonly additions: readonly {
    readonly endpoints: readonly string[];
    readonly extend: ExtendOauth;
  }[];
  /** The settings, completed for this address. */
  readonly templates: (publicUrl: string) => readonly OauthTenant[];
  /** Asked at the first request: `https://sign.example.com`. */
  readonly publicUrl: () => string;
  readonly serviceKey: Uint8Array;
  /** The vault that makes the keys of ID tokens. */
  readonly vault: KeyVault;
  /** `ownerOf` of the key custody. */
  readonly ownerOf: OwnerOf;
  readonly passwords: PasswordVerifier;
  readonly limiter: RateLimiter;
}

/** Path below the issuer → methods. */
const libraryRoutes: readonly (readonly [path: RegExp, methods: readonly string[]])[] = [
  [/^\/auth$/, ['GET', 'POST']],
  [/^\/auth\/[\w-]+$/, ['GET']],
  [/^\/token$/, ['POST', 'OPTIONS']],
  [/^\/token\/(revocation|introspection)$/, ['POST', 'OPTIONS']],
  [/^\/userinfo$/, ['GET', 'HEAD', 'POST', 'OPTIONS']],
  [
    /^\/(jwks\.json|\.well-known\/(openid-configuration|oauth-authorization-server))$/,
    ['GET', 'HEAD', 'OPTIONS'],
  ],
  [/^\/session\/end$/, ['GET', 'POST']],
  [/^\/session\/end\/success$/, ['GET']],
  [/^\/session\/end\/confirm$/, ['POST']],
];

/** Documents rarely change; a new key is published long before it signs. */
const isDocument = (path: string): boolean =>
  path === '/jwks.json' || path.startsWith('/.well-known/');
const documentSeconds = 300;
const metadataPath = '/.well-known/oauth-authorization-server';

/** The library adds its script's hash to the policy. Its forms may lead to a client. */
const libraryHeaders = [
  [
    'content-security-policy',
    "default-src 'none'; script-src 'self'; frame-ancestors 'none'; base-uri 'none'",
  ],
  ['referrer-policy', 'no-referrer'],
  ['x-content-type-options', 'nosniff'],
  ['x-frame-options', 'DENY'],
] as const;

/** A bug. */
const broken = { status: 500, error: 'server_error', text: 'something went wrong' } as const;

const answerError = (
  status: 404 | 405,
  error: string,
  text: string,
  headers: Record<string, string> = {},
): Response =>
  jsonError(
    { error, error_description: describeError('otherRequest', text).description },
    status,
    headers,
  );

export const createOauth = (options: OauthOptions) => {
  const { settings, serviceKey, limiter, isTestNumber, addressOf, now, log } = options;
  const stopping = new AbortController();
  const tenants = openTenants(() => {
    const publicUrl = options.publicUrl();
    return {
      ...options,
      publicUrl,
      templates: options.templates(publicUrl),
      extensions,
      onSuspicious: (tenant, ctx) =>
        limits.noteFailure(addressOf(ctx.req), tenant, ctx.oidc.client?.clientId),
    };
  });
  const limits = createLimits({ limiter, limits: settings.limits, tenants, isTestNumber, now });
  const checkSecret = createSecretCheck(options.passwords, limits);
  const extensions: readonly OpenedExtension[] = options.additions.map(({ endpoints, extend }) => ({
    endpoints,
    ...extend({ ...options, tenants, limits }),
  }));

  const deps: OauthDeps = { ...options, tenants, limits, checkSecret, extensions };
  const checkProgram = createProgramEndpoints(deps);

  /** @returns Undefined for a path that is not an endpoint of the library. */
  const methodsAt = (path: string): readonly string[] | undefined =>
    extensions.some(({ endpoints }) => endpoints.includes(path))
      ? ['POST']
      : libraryRoutes.find(([pattern]) => pattern.test(path))?.[1];

  const serve = async (c: Context<OauthEnvironment>, tenant: Tenant): Promise<Response> => {
    const { incoming, outgoing } = c.env;
    if (incoming === undefined || outgoing === undefined)
      throw new Error('The library needs a socket');
    const [path = '', query = ''] = pathAndQuery(incoming.url ?? '/')
      .slice(tenant.path.length)
      .split('?', 2);
    const methods = methodsAt(path);
    if (methods === undefined) return answerError(404, 'not_found', 'there is no such endpoint');
    if (!methods.includes(c.req.method)) {
      const allow = methods.join(', ');
      return answerError(405, 'invalid_request', `use ${allow}`, { allow });
    }
    const refuse = (refused: FrontRefusal): Response => refuseAtFront(c, tenant, refused, log);
    // Before the library changes the headers.
    const address = addressOf(incoming);
    if (c.req.method === 'POST' && (path === '/auth' || path === '/session/end')) {
      const link = await linkOf(c.req.raw, `${tenant.issuer}${path}`, options.body);
      return 'location' in link
        ? new Response(null, {
            status: 303,
            headers: { location: link.location, 'cache-control': 'no-store' },
          })
        : refuse(link);
    }
    if (path === '/auth') {
      if (query.length > maxQueryLength) return refuse(tooLong);
      const clientId = new URLSearchParams(query).get('client_id') ?? '';
      const retryAfter = await limits.loginWait(tenant, clientId, address);
      if (retryAfter > 0) {
        return refuse({
          status: 429,
          error: 'temporarily_unavailable',
          text: 'too many logins',
          retryAfter,
        });
      }
      const verdict = await checkFrontChannel(tenant, query, isTestNumber);
      if ('status' in verdict) return refuse(verdict);
      incoming.url = `${tenant.path}/auth?${verdict.query}`;
    }
    const checked = await checkProgram(c, tenant, path, incoming);
    if (checked instanceof Response) return checked;
    for (const [name, value] of libraryHeaders) outgoing.setHeader(name, value);
    const [name, value] = isDocument(path)
      ? ['cache-control', `public, max-age=${documentSeconds}`]
      : ['pragma', 'no-cache'];
    outgoing.setHeader(name, value);
    await serveByLibrary(tenant, checked, outgoing);
    return RESPONSE_ALREADY_SENT;
  };

  const routes = new Hono<OauthEnvironment>();
  const csrfKey = deriveKey(serviceKey, 'paraph oidc forms');
  routes.route('/', createParRoutes(deps));
  const interaction = createInteractionRoutes({ ...deps, csrfKey, stopping: stopping.signal });
  routes.route('/', interaction.routes);

  const serveTenant = async (
    c: Context<OauthEnvironment>,
    id: string | undefined,
  ): Promise<Response> => {
    const tenant = tenants.at(id);
    if (tenant === undefined) return answerError(404, 'not_found', 'there is no such tenant');
    try {
      return await serve(c, tenant);
    } catch (error) {
      // People get a page, programs an OAuth error.
      log.trouble(toError(error));
      if (c.env.outgoing?.headersSent) return RESPONSE_ALREADY_SENT;
      return refuseAtFront(c, tenant, isRedisAway(error) ? storeAway : broken, log);
    }
  };
  for (const issuerPath of ['/oidc/t/:tenant', '/oidc']) {
    // RFC 8414 3.1 puts the path of the issuer last; OpenID Connect Discovery puts it first.
    routes.all(`${metadataPath}${issuerPath}`, (c) => {
      const { incoming } = c.env;
      if (incoming !== undefined)
        incoming.url = `${c.req.path.slice(metadataPath.length)}${metadataPath}`;
      return serveTenant(c, c.req.param('tenant'));
    });
    routes.all(`${issuerPath}/*`, (c) => serveTenant(c, c.req.param('tenant')));
  }

  return {
    routes,
    tenants,
    /** Lets a device begin the login of a browser. */
    join: interaction.join,
    /** Makes the keys of the first start. */
    prepare: async (): Promise<void> => {
      for (const { start } of extensions) start();
      await Promise.all(tenants.all.map((tenant) => tenant.provider()));
    },
    /** Ends the waiting pages of this process; their logins continue. */
    endWaiting: (): void => stopping.abort(),
    close: async (): Promise<void> => {
      stopping.abort();
      await Promise.all(extensions.map(({ close }) => close()));
    },
  };
};

export type Oauth = ReturnType<typeof createOauth>;
