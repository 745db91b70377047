/** All of HTTP: the signature interface, its description, the root of its certificates, and health. */
import { Hono } from 'hono';
import { createDocumentationRoutes, type DocumentationFacts } from './documentation.route.ts';
import { createHealthRoutes } from './health.route.ts';
import { createPkiRoutes, type PkiRoutesOptions } from './pki.route.ts';
import { createServiceRoutes, type ServiceRoutesOptions } from './service.route.ts';

export interface AppOptions extends ServiceRoutesOptions, PkiRoutesOptions {
  /** @throws When the service cannot do its work now. */
  readonly ready: () => Promise<void>;
  readonly documentation: DocumentationFacts;
}

export const createApp = (options: AppOptions) => {
  const app = new Hono();
  app.route('/', createServiceRoutes(options));
  app.route('/', createPkiRoutes(options));
  app.route('/', createHealthRoutes(options.ready));
  app.route('/', createDocumentationRoutes(options.documentation));
  return app;
};
