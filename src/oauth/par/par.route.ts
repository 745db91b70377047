/**
 * `POST /oidc/par` and `/oidc/t/<id>/par`: what HTTP has to do with a pushed request. Every answer is JSON that nobody keeps.
 */
import { type Context, Hono } from 'hono';
import type { Environment, OauthDeps } from '../deps.ts';
import { readBody } from '../form.ts';
import type { Tenant } from '../tenant.ts';
import { type PushAnswer, preflightHeaders } from './answers.ts';
import { createPar, type ParOptions } from './par.ts';

const present = ({ status, headers, body }: PushAnswer): Response =>
  new Response(JSON.stringify(body), { status, headers });

export const createParRoutes = (
  options: ParOptions & Pick<OauthDeps, 'addressOf' | 'body'>,
): Hono<Environment> => {
  const { tenants, addressOf, body: bodyLimits, log } = options;
  const par = createPar(options);

  const answer = async (c: Context<Environment>, tenantFromPath: Tenant | undefined): Promise<Response> => {
    const incoming = c.env?.incoming;
    /** Node has them at hand; asked for by way of `Request`, all of them are copied first. */
    const header = (name: string): string | undefined => {
      const value = incoming === undefined ? c.req.header(name) : incoming.headers[name];
      return typeof value === 'object' ? value.join(', ') : value;
    };
    const tenant = tenantFromPath ?? tenants.main;
    const origin = header('origin');
    const { method } = c.req;
    if (method === 'OPTIONS' && header('access-control-request-method') !== undefined) {
      const requested = header('access-control-request-headers');
      const asked = tenantFromPath === undefined ? tenants.all : [tenantFromPath];
      return new Response(null, { status: 204, headers: preflightHeaders(origin, requested, asked) });
    }
    if (method !== 'POST') return present(par.refuse({ reason: 'methodNotAllowed' }, { tenant, origin }));
    try {
      const read = await readBody(c.req.raw, header('content-length'), bodyLimits);
      if (!read.ok) return present(par.refuse({ reason: read.reason }, { tenant, origin }));
      return present(
        await par.push({ tenantFromPath, header, address: addressOf(incoming), body: read.bytes }),
      );
    } catch (error) {
      log.trouble(error instanceof Error ? error : new Error('PAR failed', { cause: error }));
      return present(par.refuse({ reason: 'broken' }, { tenant, origin }));
    }
  };

  const routes = new Hono<Environment>();
  routes.all('/oidc/par', (c) => answer(c, undefined));
  routes.all('/oidc/t/:tenant/par', (c, next) => {
    const tenant = tenants.find(c.req.param('tenant'));
    // The first tenant has one address only.
    return tenant === undefined || tenant === tenants.main ? next() : answer(c, tenant);
  });
  return routes;
};
