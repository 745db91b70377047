/**
 * The OpenAPI document of the service, made from the schemas that check and describe its bodies.
 *
 * It depends on the configuration: which URIs and which TimeOut a request may have. The service therefore builds its own;
 * docs/openapi.json is that of the embedded default.
 *
 * The generator comes with OpenAPIHono, which is used for nothing else: its own validation would answer mistakes in its
 * own words, and the wire knows only Faults.
 */
import { OpenAPIHono } from '@hono/zod-openapi';
import { z } from 'zod';
import { fault } from '../protocol/fault.ts';
import { type Operation, wrappers } from '../protocol/parse.ts';
import type { ProtocolRules } from '../protocol/rules.ts';
import { faultResponseSchema } from '../protocol/schemas.ts';
import { createExamples, type Examples, type OperationExamples } from './documentation/examples.ts';
import { fillMeanings } from './documentation/meanings.ts';
import { type DescribedOperation, describeOperations } from './documentation/operations.ts';
import type { OpenApiDocument } from './documentation/schema-node.ts';
import { presentFault } from './present.ts';

/** Of the interface, not of the product (interface section 9). */
const interfaceVersion = '1.0.1';

type Route = Parameters<OpenAPIHono['openAPIRegistry']['registerPath']>[0];

const json = (schema: z.ZodType | object, examples?: Examples) => ({
  'application/json': { schema: schema as z.ZodType, ...(examples !== undefined && { examples }) },
});

const faultResponses = (examples: Examples): Route['responses'] => ({
  500: { description: 'A Fault says why there is no answer.', content: json(faultResponseSchema, examples) },
  405: {
    description: 'Any other method than POST.',
    headers: { Allow: { schema: { type: 'string' as const, const: 'POST' } } },
    content: json(faultResponseSchema, {
      method: { summary: 'Not a POST', value: presentFault(fault(101, 'Use POST')) },
    }),
  },
});

const operationRoute = (
  operation: Operation,
  { summary, description, request, response, answered }: DescribedOperation,
  { requests, answers, faults }: OperationExamples,
): Route => ({
  method: 'post',
  path: `/rest/service/${operation}`,
  operationId: operation,
  tags: ['signature'],
  summary,
  description: description.join('\n\n'),
  request: { body: { required: true, content: json(request, requests) } },
  responses: { 200: { description: answered, content: json(response, answers) }, ...faultResponses(faults) },
});

const componentName = (schema: z.ZodType): string => String(schema.meta()?.id);

const oneOf = (schemas: readonly z.ZodType[]) => ({
  oneOf: schemas.map((schema) => ({ $ref: `#/components/schemas/${componentName(schema)}` })),
});

const firstOf = (examples: Examples): Examples[string] =>
  Object.values(examples)[0] ?? { summary: '', value: {} };

const serviceRoute = (
  operations: Readonly<Record<Operation, DescribedOperation>>,
  examples: Readonly<Record<Operation, OperationExamples>>,
): Route => {
  const described = Object.values(operations);
  const pick = (side: 'requests' | 'answers' | 'faults'): Examples =>
    Object.fromEntries(Object.entries(examples).map(([name, given]) => [name, firstOf(given[side])]));
  const names = Object.values(wrappers).map((name) => `\`${name}\``);
  return {
    method: 'post',
    path: '/rest/service',
    operationId: 'service',
    tags: ['signature'],
    summary: 'All four operations at one address',
    description: `The one member of the body (${names.join(', ')}) says which operation is meant. Everything else is as at the operation’s own address.`,
    request: {
      body: {
        required: true,
        content: json(oneOf(described.map(({ request }) => request)), pick('requests')),
      },
    },
    responses: {
      200: {
        description: 'The answer of the operation that was asked for.',
        content: json(oneOf(described.map(({ response }) => response)), pick('answers')),
      },
      ...faultResponses(pick('faults')),
    },
  };
};

const health = (status: string, id: string, description: string) =>
  z.object({ status: z.literal(status) }).meta({ id, description, example: { status } });

const healthCheck = z
  .object({
    name: z.string().describe('What was looked at'),
    ok: z.boolean().describe('Whether it is there'),
    reason: z.string().optional().describe('What is wrong, or what is worth knowing'),
    ms: z.number().describe('What the look took, milliseconds'),
  })
  .meta({ id: 'HealthCheck', description: 'One thing that the service needs.' });

const ready = z
  .object({
    status: z.literal('ready'),
    checks: z.array(healthCheck).describe('All that was looked at'),
  })
  .meta({
    id: 'Ready',
    description: 'The service can do its work.',
    example: { status: 'ready', checks: [{ name: 'redis', ok: true, ms: 1 }] },
  });

const unavailable = z
  .object({
    status: z.literal('unavailable'),
    reasons: z.array(z.string()),
    checks: z.array(healthCheck).describe('All that was looked at'),
  })
  .meta({
    id: 'Unavailable',
    description: 'The service cannot do its work now, and why.',
    example: {
      status: 'unavailable',
      reasons: ['Redis takes no writes for shard 1: it does not answer'],
      checks: [
        {
          name: 'redis',
          ok: false,
          reason: 'Redis takes no writes for shard 1: it does not answer',
          ms: 801,
        },
      ],
    },
  });

const machineRoutes: readonly Route[] = [
  {
    method: 'get',
    path: '/livez',
    operationId: 'livez',
    tags: ['health'],
    summary: 'Is the process alive?',
    responses: {
      200: { description: 'It answers.', content: json(health('alive', 'Alive', 'The process answers.')) },
    },
  },
  {
    method: 'get',
    path: '/readyz',
    operationId: 'readyz',
    tags: ['health'],
    summary: 'Can it do its work?',
    responses: {
      200: {
        description: 'It can.',
        content: json(ready),
      },
      503: { description: 'It cannot, for the reasons given.', content: json(unavailable) },
    },
  },
  {
    method: 'get',
    path: '/pki/root.pem',
    operationId: 'root',
    tags: ['description'],
    summary: 'The root certificates that signatures are checked against',
    responses: {
      200: {
        description:
          'PEM, one after the other. Compare the fingerprint by another way before you rely on it.',
        content: { 'application/x-pem-file': { schema: { type: 'string' } } },
      },
      503: {
        description: 'The keys are out of reach.',
        content: { 'text/plain': { schema: { type: 'string' } } },
      },
    },
  },
  {
    method: 'get',
    path: '/openapi.json',
    operationId: 'openapi',
    tags: ['description'],
    summary: 'This document',
    responses: {
      200: { description: 'OpenAPI 3.1.', content: json({ type: 'object' }) },
    },
  },
];

const description = [
  'Ask a person to sign a text on the phone, and get a CMS signature (RFC 5652) by a key that only this person can use. The interface is that of ETSI TS 102 204 in JSON over HTTP.',
  'Whatever is posted to `/rest/service…` is answered with 200 and a response, or with 500 and a Fault. What is not valid HTTP, or does not arrive in time, is answered by the server itself with 400 or 408; the body is a Fault there too.',
  'Answers are compact JSON whose members stand in ASCII order. Members of a request that are not described here are ignored; null counts as absent.',
].join('\n\n');

/**
 * @param productVersion Of the program that serves the document. docs/openapi.json has none: a release does not change
 *   the interface.
 */
export const buildOpenApiDocument = (rules: ProtocolRules, productVersion?: string): OpenApiDocument => {
  const registrar = new OpenAPIHono();
  const register = (route: Route): void => registrar.openAPIRegistry.registerPath(route);
  const operations = describeOperations(rules);
  const examples = createExamples(rules);
  for (const name of Object.keys(wrappers) as Operation[]) {
    register(operationRoute(name, operations[name], examples[name]));
  }
  register(serviceRoute(operations, examples));
  machineRoutes.forEach(register);
  // The generator's type covers all of OpenAPI; the narrower one is what its output is read by.
  const document: unknown = registrar.getOpenAPI31Document({
    openapi: '3.1.0',
    info: {
      title: 'Paraph: mobile signature interface',
      version: interfaceVersion,
      description,
      license: { name: 'Apache 2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
      ...(productVersion !== undefined && { 'x-paraph-version': productVersion }),
    },
    servers: [{ url: '/', description: 'The service that this document describes.' }],
    tags: [
      { name: 'signature', description: 'What relying applications call.' },
      { name: 'health', description: 'What monitoring calls.' },
      { name: 'description', description: 'The interface about itself.' },
    ],
  });
  return fillMeanings(document as OpenApiDocument);
};
