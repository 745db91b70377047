/**
 * The JSON Schema of what lies in the queues, made from the schemas of the workers, with the
 * protocol's own schema of MSS_SignatureReq under the rules of the default configuration.
 */
import { z } from 'zod';
import { answerSchema } from '../packages/protocol/src/outcome.ts';
import { defaultProtocolRules } from '../packages/protocol/src/rules.ts';
import { signatureRequestSchema } from '../packages/protocol/src/schemas/sign.ts';
import {
  receiptJobDataSchema,
  receiptJobResultSchema,
  signatureJobDataSchema,
  signatureRecordSchema,
} from '../src/transactions/contract.ts';

type JsonSchema = z.core.JSONSchema.BaseSchema;

const record = signatureRecordSchema.describe(
  'Where a transaction has ended; what a completed job returns.',
);

const jobData = signatureJobDataSchema.extend({
  MSS_SignatureReq: signatureRequestSchema(defaultProtocolRules).shape.MSS_SignatureReq,
});

/** JSON Schema has `examples`, and no need of bounds that every number of the language has. */
const tidy = ({ jsonSchema }: { jsonSchema: JsonSchema }): void => {
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
  if (jsonSchema.example !== undefined) {
    jsonSchema.examples = [jsonSchema.example];
    delete jsonSchema.example;
  }
};

const definitionsOf = (
  name: string,
  schema: z.ZodType,
  io: 'input' | 'output',
): Record<string, JsonSchema> => {
  const {
    $schema: _dialect,
    $defs = {},
    ...definition
  } = z.toJSONSchema(schema, {
    io,
    // A check that only code can make; its schema says the type in so many words.
    unrepresentable: 'any',
    override: tidy,
  });
  return { [name]: definition, ...$defs };
};

/** A password has no place in a job: the worker ignores it, and Redis would keep it. */
const withoutPassword = (definitions: Record<string, JsonSchema>): Record<string, JsonSchema> => {
  const { AP_PWD: _password, ...properties } = definitions.AP_Info?.properties ?? {};
  return { ...definitions, AP_Info: { ...definitions.AP_Info, properties } };
};

export const queueContractSchema = (): JsonSchema => ({
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  title: 'Jobs of Paraph',
  description:
    'Validates the data of a job `sign` in the queue `signatures`. SignatureRecord is what a completed one returns.',
  $ref: '#/$defs/SignatureJobData',
  $defs: {
    ...withoutPassword(definitionsOf('SignatureJobData', jobData, 'input')),
    ...definitionsOf('SignatureRecord', record, 'input'),
    ...definitionsOf('Answer', answerSchema, 'input'),
    ...definitionsOf('ReceiptJobData', receiptJobDataSchema, 'input'),
    ...definitionsOf('ReceiptJobResult', receiptJobResultSchema, 'output'),
  },
});
