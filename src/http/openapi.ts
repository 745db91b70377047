/**
 * The OpenAPI document of the service, made from the schemas that check and describe its bodies.
 *
 * It depends on the configuration: which URIs and which TimeOut a request may have. The service therefore builds its own;
 * docs/openapi.json is that of the embedded default.
 */
import { z } from 'zod';
import { fault } from '../protocol/fault.ts';
import { type Operation, wrappers } from '../protocol/parse.ts';
import type { ProtocolRules } from '../protocol/rules.ts';
import { faultResponseSchema } from '../protocol/schemas.ts';
import { createExamples, type Examples, type OperationExamples } from './documentation/examples.ts';
import { type DescribedOperation, describeOperations } from './documentation/operations.ts';
import { presentFault } from './present.ts';

/** The parts of a JSON Schema that this service's own schemas use. */
export interface SchemaNode {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly format?: string;
  readonly pattern?: string;
  readonly maxLength?: number;
  readonly enum?: readonly string[];
  readonly const?: string;
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly required?: readonly string[];
  readonly items?: SchemaNode;
  readonly anyOf?: readonly SchemaNode[];
  readonly oneOf?: readonly SchemaNode[];
}

interface Body {
  /** By media type. */
  readonly content: Readonly<Record<string, { readonly schema: SchemaNode; readonly examples?: Examples }>>;
}

export interface OperationNode {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description?: string;
  readonly requestBody?: Body & { readonly required: boolean };
  readonly responses: Readonly<
    Record<string, Body & { readonly description: string; readonly headers?: object }>
  >;
}

export interface OpenApiDocument {
  readonly openapi: string;
  readonly info: {
    readonly title: string;
    readonly version: string;
    readonly description: string;
    readonly license: object;
    readonly 'x-paraph-version'?: string;
  };
  readonly servers: readonly object[];
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly components: { readonly schemas: Readonly<Record<string, SchemaNode>> };
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationNode>>>>;
}

/** Of the interface, not of the product (interface section 9). */
const interfaceVersion = '1.0.1';

/** Where the schemas of a document lie, by their names. */
export const schemaPath = '#/components/schemas/';

const ref = (schema: z.ZodType): SchemaNode => ({ $ref: `${schemaPath}${schema.meta()?.id}` });

/** What may be null is one schema of two types, which tools show better than a choice between two schemas. */
const foldNull = ({ jsonSchema }: { jsonSchema: z.core.JSONSchema.BaseSchema }): void => {
  const [given, none] = jsonSchema.anyOf ?? [];
  if (none?.type !== 'null' || given?.type === undefined) return;
  delete jsonSchema.anyOf;
  Object.assign(jsonSchema, { ...given, type: [given.type, 'null'] });
};

/** Every schema with a name that these are made of, by its name. */
const namedSchemas = (schemas: readonly z.ZodType[]): Record<string, SchemaNode> => {
  const { $defs } = z.toJSONSchema(z.union(schemas), { io: 'input', override: foldNull });
  return JSON.parse(JSON.stringify($defs).replaceAll('"#/$defs/', `"${schemaPath}`));
};

const body = (schema: SchemaNode, examples?: Examples, type = 'application/json'): Body => ({
  content: { [type]: { schema, ...(examples !== undefined && { examples }) } },
});

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

const alive = z
  .object({ status: z.literal('alive').describe('The state as one word.') })
  .meta({ id: 'Alive', description: 'The process answers.', example: { status: 'alive' } });

const healthCheck = z
  .object({
    name: z.string().describe('What was looked at'),
    ok: z.boolean().describe('Whether it is there'),
    reason: z.string().optional().describe('What is wrong, or what is worth knowing'),
    ms: z.number().describe('What the look took, milliseconds'),
  })
  .meta({ id: 'HealthCheck', description: 'One thing that the service needs.' });

const checks = z.array(healthCheck).describe('All that was looked at');

const ready = z.object({ status: z.literal('ready').describe('The state as one word.'), checks }).meta({
  id: 'Ready',
  description: 'The service can do its work.',
  example: { status: 'ready', checks: [{ name: 'redis', ok: true, ms: 1 }] },
});

const noWrites = 'Redis takes no writes for shard 1: it does not answer';
const unavailable = z
  .object({
    status: z.literal('unavailable').describe('The state as one word.'),
    reasons: z.array(z.string()).describe('One sentence each.'),
    checks,
  })
  .meta({
    id: 'Unavailable',
    description: 'The service cannot do its work now, and why.',
    example: {
      status: 'unavailable',
      reasons: [noWrites],
      checks: [{ name: 'redis', ok: false, reason: noWrites, ms: 801 }],
    },
  });

/** What an application may push (docs/login.md). All are optional here: a signed request holds them in its place. */
const pushedParameters = {
  client_id: 'The client. May be left out where its authentication names it.',
  client_secret: 'Of a client with `client_secret_post`.',
  client_assertion: 'Of a client with `private_key_jwt`.',
  client_assertion_type: '`urn:ietf:params:oauth:client-assertion-type:jwt-bearer`.',
  response_type: '`code`. Required.',
  response_mode: '`query`, `fragment` or `form_post`, or one of them as a JWT, such as `query.jwt`.',
  redirect_uri: 'One of the client’s. May be left out by a client with only one.',
  scope: '`openid` and what is wanted besides.',
  state: 'Comes back in the redirect.',
  nonce: 'Comes back in the ID token.',
  code_challenge: 'PKCE. Required of public clients.',
  code_challenge_method: '`S256`.',
  acr_values: 'How sure the login has to be, best first.',
  prompt: '`login` and `consent` ask anew; `none` asks nobody.',
  max_age: 'Seconds that the login may be old.',
  login_hint: 'The number of the person who is expected, or JSON with several.',
  id_token_hint: 'An earlier ID token: the same person has to log in.',
  ui_locales: 'Language of page and phone: `en`, `de`, `fr`, `it`.',
  claims_locales: 'Accepted, and changes nothing.',
  display: 'Accepted, and changes nothing.',
  dtbd: 'The text on the phone, for clients that may choose it.',
  dpop_jkt: 'The key that the login is bound to.',
  request: 'The parameters as a signed JWT (RFC 9101).',
};

const pushedRequest = z
  .object(
    Object.fromEntries(
      Object.entries(pushedParameters).map(([name, words]) => [name, z.string().optional().describe(words)]),
    ),
  )
  .meta({ id: 'PushedRequest', description: 'A login as an application asks for it, as a form.' });

const pushedResponse = z
  .object({
    request_uri: z.string().describe('The handle, for one login at `/oidc/auth`.'),
    expires_in: z.number().describe('Seconds that the handle is good for.'),
  })
  .meta({ id: 'PushedResponse', description: 'The request is kept.' });

const oauthError = z
  .object({
    error: z.string().describe('The code, such as `invalid_request`.'),
    error_description: z.string().describe('A code, the number of the log entry, and the reason in words.'),
  })
  .meta({ id: 'OAuthError', description: 'Why the request is not taken (RFC 6749).' });

const discovery = z
  .object({
    issuer: z.string().describe('The provider, as its ID tokens name it.'),
    pushed_authorization_request_endpoint: z.string().describe('Where an application pushes its request.'),
    authorization_endpoint: z.string().describe('Where the browser goes.'),
    token_endpoint: z.string().describe('Where a code is redeemed.'),
    userinfo_endpoint: z.string().describe('Claims of the scopes.'),
    jwks_uri: z.string().describe('The keys that sign.'),
  })
  .meta({
    id: 'Discovery',
    description: 'The members that every client needs; there are more (OpenID Connect Discovery 1.0).',
  });

const keySet = z
  .object({
    keys: z
      .array(
        z.object({
          kty: z.string().describe('Kind of the key.'),
          kid: z.string().describe('Its name in the header of a token.'),
          use: z.literal('sig').describe('Keys here only sign.'),
        }),
      )
      .describe('Public keys (RFC 7517), each with the members of its kind.'),
  })
  .meta({ id: 'KeySet', description: 'The keys that sign ID tokens, and the one that will be next.' });

const get = (
  operationId: string,
  tag: string,
  summary: string,
  responses: OperationNode['responses'],
): Record<string, OperationNode> => ({ get: { operationId, tags: [tag], summary, responses } });

const machinePaths: OpenApiDocument['paths'] = {
  '/livez': get('livez', 'health', 'Is the process alive?', {
    200: { description: 'It answers.', ...body(ref(alive)) },
  }),
  '/readyz': get('readyz', 'health', 'Can it do its work?', {
    200: { description: 'It can.', ...body(ref(ready)) },
    503: { description: 'It cannot, for the reasons given.', ...body(ref(unavailable)) },
  }),
  '/pki/root.pem': get('root', 'description', 'The root certificates that signatures are checked against', {
    200: {
      description: 'PEM, one after the other. Compare the fingerprint by another way before you rely on it.',
      ...body({ type: 'string' }, undefined, 'application/x-pem-file'),
    },
    503: { description: 'The keys are out of reach.', ...body({ type: 'string' }, undefined, 'text/plain') },
  }),
  '/openapi.json': get('openapi', 'description', 'This document', {
    200: { description: 'OpenAPI 3.1.', ...body({ type: 'object' }) },
  }),
  '/oidc/.well-known/openid-configuration': get(
    'discovery',
    'login',
    'The addresses of the OpenID provider',
    {
      200: { description: 'Discovery document.', ...body(ref(discovery)) },
    },
  ),
  '/oidc/jwks.json': get('jwks', 'login', 'The keys that sign ID tokens', {
    200: { description: 'JSON Web Key Set.', ...body(ref(keySet)) },
  }),
  '/oidc/par': {
    post: {
      operationId: 'par',
      tags: ['login'],
      summary: 'Push a login request (RFC 9126)',
      description:
        'The application says what it wants and proves who it is: by HTTP Basic, a secret in the form, or a signed assertion. The browser then brings the handle to `/oidc/auth`. A second tenant has its own addresses, `/oidc/t/<tenant>/par` and so on; its discovery document names them.',
      requestBody: {
        required: true,
        ...body(ref(pushedRequest), undefined, 'application/x-www-form-urlencoded'),
      },
      responses: {
        200: { description: 'The handle.', ...body(ref(pushedResponse)) },
        201: {
          description: 'The same, for clients that are registered for 201.',
          ...body(ref(pushedResponse)),
        },
        '4XX': {
          description: 'Mostly 400; 401 when the client is not authenticated, 429 when it asks too often.',
          ...body(ref(oauthError)),
        },
        500: { description: 'The request could not be kept.', ...body(ref(oauthError)) },
      },
    },
  },
};

const description = [
  'Ask a person to sign a text on the phone, and get a CMS signature (RFC 5652) by a key that only this person can use. The interface is that of ETSI TS 102 204 in JSON over HTTP.',
  'Whatever is posted to `/rest/service…` is answered with 200 and a response, or with 500 and a Fault. What is not valid HTTP, or does not arrive in time, is answered by the server itself with 400 or 408; the body is a Fault there too.',
  'Answers are compact JSON whose members stand in ASCII order. Members of a request that are not described here are ignored; null counts as absent.',
].join('\n\n');

const firstOf = (examples: Examples): Examples[string] =>
  Object.values(examples)[0] ?? { summary: '', value: {} };

/**
 * @param productVersion Of the program that serves the document. docs/openapi.json has none: a release does not change
 *   the interface.
 */
export const buildOpenApiDocument = (rules: ProtocolRules, productVersion?: string): OpenApiDocument => {
  const operations = describeOperations(rules);
  const examples = createExamples(rules);
  const described = Object.values(operations);
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
      requestBody: { required: true, ...body(request, requests) },
      responses: {
        200: { description: words.answered, ...body(response, answers) },
        ...faultResponses(faults),
      },
    },
  });
  const firstOfEach = (side: keyof OperationExamples): Examples =>
    Object.fromEntries(Object.entries(examples).map(([name, given]) => [name, firstOf(given[side])]));
  const names = Object.values(wrappers).map((name) => `\`${name}\``);
  return {
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
      { name: 'login', description: 'Where a login by OpenID Connect begins.' },
    ],
    components: {
      schemas: namedSchemas([
        ...described.flatMap(({ request, response }) => [request, response]),
        ...[faultResponseSchema, alive, ready, unavailable],
        ...[discovery, keySet, pushedRequest, pushedResponse, oauthError],
      ]),
    },
    paths: {
      ...Object.fromEntries(
        (Object.keys(wrappers) as Operation[]).map((name) => {
          const { request, response, ...words } = operations[name];
          return [`/rest/service/${name}`, post(name, words, ref(request), ref(response), examples[name])];
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
        { oneOf: described.map(({ request }) => ref(request)) },
        { oneOf: described.map(({ response }) => ref(response)) },
        {
          requests: firstOfEach('requests'),
          answers: firstOfEach('answers'),
          faults: firstOfEach('faults'),
        },
      ),
      ...machinePaths,
    },
  };
};
