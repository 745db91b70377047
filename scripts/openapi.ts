/**
 * `npm run openapi`: writes the descriptions that machines read, docs/openapi.json,
 * docs/queue-contract.schema.json, docs/process-definition.schema.json and
 * docs/configuration.schema.json. With `--check` it compares.
 */

import { documentsInDefinition } from '../parts/documents/signing/definition.ts';
import { parts } from '../parts/parts.ts';
import { definitionJsonSchema } from '../parts/processes/definition/definition.ts';
import { configurationJsonSchema } from '../src/app/configuration/json-schema.ts';
import { loadConfiguration } from '../src/app/configuration/load.ts';
import { documentationFacts } from '../src/app/documentation-facts.ts';
import { describeParts } from '../src/app/part-rooms.ts';
import { buildOpenApiDocument } from '../src/http/openapi.ts';
import { readableJson, writeOrCheck } from './generated-file.ts';
import { queueContractSchema } from './queue-contract-schema.ts';

const embedded = await loadConfiguration(undefined);
if (!embedded.ok) throw new Error(embedded.problems.join('; '));
const facts = documentationFacts(embedded.value, await describeParts(parts));

writeOrCheck(
  [
    {
      path: 'docs/openapi.json',
      make: () => readableJson(buildOpenApiDocument(facts)),
    },
    { path: 'docs/queue-contract.schema.json', make: () => readableJson(queueContractSchema()) },
    {
      path: 'docs/process-definition.schema.json',
      make: () => readableJson(definitionJsonSchema(documentsInDefinition)),
    },
    {
      path: 'docs/configuration.schema.json',
      make: () => readableJson(configurationJsonSchema()),
    },
  ],
  { check: process.argv.includes('--check'), remedy: '`npm run openapi`' },
);
