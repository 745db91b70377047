/**
 * `npm run openapi`: writes the two descriptions that machines read, docs/openapi.json and
 * docs/queue-contract.schema.json. With `--check` it compares.
 */
import { buildOpenApiDocument } from '../src/http/openapi.ts';
import { defaultProtocolRules } from '../src/protocol/rules.ts';
import { readableJson, writeOrCheck } from './generated-file.ts';
import { queueContractSchema } from './queue-contract-schema.ts';

writeOrCheck(
  [
    { path: 'docs/openapi.json', make: () => readableJson(buildOpenApiDocument(defaultProtocolRules)) },
    { path: 'docs/queue-contract.schema.json', make: () => readableJson(queueContractSchema()) },
  ],
  { check: process.argv.includes('--check'), remedy: '`npm run openapi`' },
);
