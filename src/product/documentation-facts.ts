import type { Configuration } from '../configuration/schema.ts';
import type { DocumentationFacts } from '../http/documentation.route.ts';
import { retentionOf } from './retention.ts';

/** What the OpenAPI document says about a service with this configuration. */
export const documentationFacts = (configuration: Configuration): DocumentationFacts => ({
  rules: configuration.protocol,
  sandbox: configuration.sandbox,
  maxBodyBytes: configuration.http.maxBodyBytes,
  retention: retentionOf(configuration),
});
