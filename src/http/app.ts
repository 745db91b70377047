/**
 * All of HTTP: the signature interface, its description, the root certificates, and health.
 *
 * An unknown address and an error in a page are answered with a Fault too, in place of the
 * library's texts; a browser gets a page for an unknown address. An address that has other methods
 * names them. The signature interface is an application of its own: its few fixed paths are found
 * by one look into a table, and its requests skip the routes of the pages.
 */
import { Hono, type HonoRequest } from 'hono';
import { fault } from '../../packages/protocol/src/fault.ts';
import {
  createDocumentationRoutes,
  type DocumentationOptions,
  unknownAddressPage,
} from './documentation.route.ts';
import { createHealthRoutes, type HealthCheck } from './health.route.ts';
import { pathOf } from './path.ts';
import { faultResponse } from './present.ts';
import {
  createRootCertificateRoutes,
  type RootCertificatesOptions,
} from './root-certificates.route.ts';
import { createServiceRoutes, type ServiceRoutesOptions } from './service.route.ts';

export interface AppOptions extends ServiceRoutesOptions, Pick<RootCertificatesOptions, 'trust'> {
  /** What the process needs to work. */
  readonly readiness: readonly HealthCheck[];
  readonly documentation: DocumentationOptions;
  /** Routes of other rooms. */
  // biome-ignore lint/suspicious/noExplicitAny: only the routes know what they need of the server.
  readonly more: readonly Hono<any>[];
}

/** The methods to look for. HEAD is answered by the route of GET. */
const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

/** The value of `Allow` (RFC 9110 15.5.6); undefined when the method is not the error. */
const methodsAt = (app: Hono, { path, method }: HonoRequest): string | undefined => {
  const found = methods.filter((each) =>
    // Middleware is there for all methods.
    app.router.match(each, path)[0].some(([[, route]]) => route.method !== 'ALL'),
  );
  const allowed = found.flatMap((each) => (each === 'GET' ? ['GET', 'HEAD'] : [each]));
  return allowed.length === 0 || allowed.includes(method) ? undefined : allowed.join(', ');
};

export const createApp = (options: AppOptions) => {
  const { routes, refuseOther } = createServiceRoutes(options);
  const pages = new Hono();
  // The routes match paths with unusual escapes, which the table of fixed paths misses.
  pages.route('/', routes);
  pages.route('/', createRootCertificateRoutes(options));
  pages.route('/', createHealthRoutes(options.readiness));
  pages.route('/', createDocumentationRoutes(options.documentation));
  for (const more of options.more) pages.route('/', more);
  for (const app of [routes, pages]) {
    app.notFound((c) => {
      const refused = refuseOther(c.req.path);
      if (refused !== undefined) return refused;
      const allow = methodsAt(pages, c.req);
      if (allow === undefined)
        return (
          unknownAddressPage(c, 404) ?? faultResponse(404, fault(101, 'There is no such address'))
        );
      c.header('allow', allow);
      return (
        unknownAddressPage(c, 405) ?? faultResponse(405, fault(101, `Use ${allow}`), { allow })
      );
    });
    app.onError((error) => {
      options.log.trouble(error);
      return faultResponse(500, fault(900));
    });
  }
  return {
    fetch: (request: Request, bindings?: object): Response | Promise<Response> =>
      (pathOf(request).startsWith('/rest/') ? routes : pages).fetch(request, bindings),
  };
};
