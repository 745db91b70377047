import type { DescribedPart } from '../http/documentation/described-part.ts';
import type { DocumentationFacts } from '../http/documentation.route.ts';
import type { Configuration } from './configuration/schema.ts';
import { retentionOf } from './retention.ts';

/** What the OpenAPI document says about a service with this configuration and these parts. */
export const documentationFacts = (
  configuration: Configuration,
  described: readonly DescribedPart[],
): DocumentationFacts => ({
  rules: configuration.protocol,
  sandbox: configuration.sandbox,
  maxBodyBytes: configuration.http.maxBodyBytes,
  retention: retentionOf(configuration),
  described,
});
