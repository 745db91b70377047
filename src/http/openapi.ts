/**
 * The OpenAPI document of the service, made from the schemas that check and describe its bodies.
 * Its description is the whole guide, so every tool that shows the document has the words, too.
 *
 * It depends on the configuration: which URIs and which TimeOut a request may have, how long an end
 * can be asked for. The service therefore builds its own; docs/openapi.json is that of the embedded
 * default.
 */
import { z } from 'zod';
import { fault } from '../../packages/protocol/src/fault.ts';
import { type Operation, wrappers } from '../../packages/protocol/src/parse.ts';
import { faultResponseSchema } from '../../packages/protocol/src/schemas/fault.ts';
import { createExamples, type Examples, type OperationExamples } from './documentation/examples.ts';
import {
  type DocumentationFacts,
  firstSignature,
  modes,
  overview,
  verification,
} from './documentation/guide.ts';
import { machinePaths, machineSchemas } from './documentation/machine-paths.ts';
import {
  body,
  type OperationNode,
  ref,
  type SchemaNode,
  schemaPath,
} from './documentation/nodes.ts';
import { type DescribedOperation, describeOperations } from './documentation/operations.ts';
import { faults, profiles, services, statusCodes, testNumbers } from './documentation/tables.ts';
import { presentFault } from './present.ts';

/** The version of the interface, which is not that of the product (interface section 9). */
const interfaceVersion = '1.0.1';

/** A nullable value is one schema of two types, which tools show better than a choice. */
const foldNull = ({ jsonSchema }: { jsonSchema: z.core.JSONSchema.BaseSchema }): void => {
  const [given, none] = jsonSchema.anyOf ?? [];
  if (none?.type !== 'null' || given?.type === undefined) return;
  delete jsonSchema.anyOf;
  Object.assign(jsonSchema, { ...given, type: [given.type, 'null'] });
};

/** All named schemas that occur in the given ones, by name. */
const namedSchemas = (schemas: readonly z.ZodType[]): Record<string, SchemaNode> => {
  const { $defs } = z.toJSONSchema(z.union(schemas), { io: 'input', override: foldNull });
  return JSON.parse(JSON.stringify($defs).replaceAll('"#/$defs/', `"${schemaPath}`));
};

const faultResponses = (examples: Examples): OperationNode['responses'] => ({
  405: {
    description: 'Any other method than POST.',
    headers: { Allow: { schema: { type: 'string', const: 'POST' } } },
    ...body(ref(faultResponseSchema), {
      method: { summary: 'Not a POST', value: presentFault(fault(101, 'Use POST')) },
    }),
  },
  500: {
    description: 'A Fault says why there is no answer.',
    ...body(ref(faultResponseSchema), examples),
  },
});

/**
 * The authentication that OpenAPI can describe. `AP_ID` and `AP_PWD` are members of the body, so
 * they are not among it.
 */
const securitySchemes = {
  clientCertificate: {
    type: 'mutualTLS',
    description: 'The TLS client certificate of an application for which one is registered.',
  },
  applicationProvider: {
    type: 'http',
    scheme: 'basic',
    description:
      'AP_ID and AP_PWD of the application, each form-urlencoded (RFC 6749 section 2.3.1). A sandbox takes any AP_ID and no AP_PWD.',
  },
  openIdClient: {
    type: 'http',
    scheme: 'basic',
    description:
      'Id and secret of an OpenID client, each form-urlencoded (RFC 6749 section 2.3.1).',
  },
} as const;

const optionalCertificate: OperationNode['security'] = [{}, { clientCertificate: [] }];

const introduction = [
  'Ask a person to sign a text on the phone, and get a CMS signature (RFC 5652) by a key that only this person can use. The interface is that of ETSI TS 102 204 in JSON over HTTP.',
  'Whatever is posted to `/rest/service…` is answered with 200 and a response, or with 500 and a Fault. What is not valid HTTP, or does not arrive in time, is answered by the server itself with 400 or 408; the body is a Fault there too.',
  'Answers are compact JSON whose members stand in ASCII order. Members of a request that are not described here are ignored; null counts as absent.',
];

const describe = (facts: DocumentationFacts): string =>
  [
    ...introduction,
    overview(facts),
    firstSignature(facts),
    modes,
    profiles(facts.rules),
    services(facts.rules),
    statusCodes,
    faults,
    verification,
    ...(facts.sandbox ? [testNumbers] : []),
  ].join('\n\n');

const firstOf = (examples: Examples): Examples[string] =>
  Object.values(examples)[0] ?? { summary: '', value: {} };

/**
 * @param described      Addresses of parts.
 * @param productVersion The version of the program that serves the document. docs/openapi.json has
 *   none, because a release does not change the interface.
 */
export const buildOpenApiDocument = (facts: DocumentationFacts, productVersion?: string) => {
  const { rules, described } = facts;
  const operations = describeOperations(rules);
  const examples = createExamples(rules);
  const own = Object.values(operations);
  const post = (
    operationId: string,
    words: Pick<DescribedOperation, 'summary' | 'description' | 'answered'>,
    request: SchemaNode,
    response: SchemaNode,
    { requests, answers, faults }: OperationExamples,
  ): Record<string, OperationNode> => ({
    post: {
      operationId,
      tags: ['signature'],
      summary: words.summary,
      description: words.description.join('\n\n'),
      security: optionalCertificate,
      requestBody: { required: true, ...body(request, requests) },
      responses: {
        200: { description: words.answered, ...body(response, answers) },
        ...faultResponses(faults),
      },
    },
  });
  const firstOfEach = (side: keyof OperationExamples): Examples =>
    Object.fromEntries(
      Object.entries(examples).map(([name, given]) => [name, firstOf(given[side])]),
    );
  const names = Object.values(wrappers).map((name) => `\`${name}\``);
  return {
    openapi: '3.1.0',
    info: {
      title: 'Paraph: mobile signature interface',
      version: interfaceVersion,
      description: describe(facts),
      license: { name: 'Apache 2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
      ...(productVersion !== undefined && { 'x-paraph-version': productVersion }),
    },
    servers: [{ url: '/', description: 'The service that this document describes.' }],
    tags: [
      {
        name: 'signature',
        'x-displayName': 'Signatures',
        description: 'What relying applications call.',
      },
      ...described.map(({ tag }) => tag),
      { name: 'health', 'x-displayName': 'Health', description: 'What monitoring calls.' },
      {
        name: 'description',
        'x-displayName': 'Description',
        description:
          'The interface about itself, and the root certificate that signatures are checked against.',
      },
      {
        name: 'login',
        'x-displayName': 'Logins',
        description:
          'The service is an OpenID provider, too: an application pushes what it wants to `/oidc/par`, a form, and sends the browser on with the `request_uri` that it gets. All other addresses are in the discovery document, `/oidc/.well-known/openid-configuration`, and the keys of ID tokens in `/oidc/jwks.json`.',
      },
    ],
    components: {
      securitySchemes,
      schemas: namedSchemas([
        ...own.flatMap(({ request, response }) => [request, response]),
        faultResponseSchema,
        ...described.flatMap(({ schemas }) => schemas),
        ...machineSchemas,
      ]),
    },
    paths: {
      ...Object.fromEntries(
        (Object.keys(wrappers) as Operation[]).map((name) => {
          const { request, response, ...words } = operations[name];
          return [
            `/rest/service/${name}`,
            post(name, words, ref(request), ref(response), examples[name]),
          ];
        }),
      ),
      '/rest/service': post(
        'service',
        {
          summary: 'All four operations at one address',
          description: [
            `The one member of the body (${names.join(', ')}) says which operation is meant. Everything else is as at the operation’s own address.`,
          ],
          answered: 'The answer of the operation that was asked for.',
        },
        { oneOf: own.map(({ request }) => ref(request)) },
        { oneOf: own.map(({ response }) => ref(response)) },
        {
          requests: firstOfEach('requests'),
          answers: firstOfEach('answers'),
          faults: firstOfEach('faults'),
        },
      ),
      ...Object.fromEntries(described.flatMap(({ paths }) => Object.entries(paths))),
      ...machinePaths,
    },
  };
};

export type OpenApiDocument = ReturnType<typeof buildOpenApiDocument>;
