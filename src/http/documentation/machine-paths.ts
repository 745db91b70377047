/**
 * Addresses beside the signature interface, for the OpenAPI document: health, keys, and the begin
 * of a login.
 */
import { z } from 'zod';
import { body, type OperationNode, ref } from './nodes.ts';

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

const ready = z
  .object({ status: z.literal('ready').describe('The state as one word.'), checks })
  .meta({
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

/** What an application may push (docs/login.md). All optional: a signed request holds them. */
const pushedParameters = {
  client_id: 'The client. May be left out where its authentication names it.',
  client_secret: 'Of a client with `client_secret_post`.',
  client_assertion: 'Of a client with `private_key_jwt`.',
  client_assertion_type: '`urn:ietf:params:oauth:client-assertion-type:jwt-bearer`.',
  response_type: '`code`. Required.',
  response_mode:
    '`query`, `fragment` or `form_post`, or one of them as a JWT, such as `query.jwt`.',
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
      Object.entries(pushedParameters).map(([name, words]) => [
        name,
        z.string().optional().describe(words),
      ]),
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
    error_description: z
      .string()
      .describe('A code, the number of the log entry, and the reason in words.'),
  })
  .meta({ id: 'OAuthError', description: 'Why the request is not taken (RFC 6749).' });

const discovery = z
  .object({
    issuer: z.string().describe('The provider, as its ID tokens name it.'),
    pushed_authorization_request_endpoint: z
      .string()
      .describe('Where an application pushes its request.'),
    authorization_endpoint: z.string().describe('Where the browser goes.'),
    token_endpoint: z.string().describe('Where a code is redeemed.'),
    userinfo_endpoint: z.string().describe('Claims of the scopes.'),
    jwks_uri: z.string().describe('The keys that sign.'),
  })
  .meta({
    id: 'Discovery',
    description:
      'The members that every client needs; there are more (OpenID Connect Discovery 1.0).',
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
  .meta({
    id: 'KeySet',
    description: 'The keys that sign ID tokens, and the one that will be next.',
  });

const get = (
  operationId: string,
  tag: string,
  summary: string,
  responses: OperationNode['responses'],
): Record<string, OperationNode> => ({
  get: { operationId, tags: [tag], summary, security: [], responses },
});

/** What is not an operation of the signature interface. */
export const machinePaths: Readonly<Record<string, Readonly<Record<string, OperationNode>>>> = {
  '/livez': get('livez', 'health', 'Is the process alive?', {
    200: { description: 'It answers.', ...body(ref(alive)) },
  }),
  '/readyz': get('readyz', 'health', 'Can it do its work?', {
    200: { description: 'It can.', ...body(ref(ready)) },
    503: { description: 'It cannot, for the reasons given.', ...body(ref(unavailable)) },
  }),
  '/pki/root.pem': get(
    'root',
    'description',
    'The root certificates that signatures are checked against',
    {
      200: {
        description:
          'PEM, one after the other. Compare the fingerprint by another way before you rely on it.',
        ...body({ type: 'string' }, undefined, 'application/x-pem-file'),
      },
      503: {
        description: 'The keys are out of reach.',
        ...body({ type: 'string' }, undefined, 'text/plain'),
      },
    },
  ),
  '/openapi.json': get('openapi', 'description', 'This document', {
    200: { description: 'OpenAPI 3.1.', ...body({ type: 'object' }) },
  }),
  '/configuration.schema.json': get(
    'configuration',
    'description',
    'The JSON Schema of the configuration file, for editors',
    {
      200: {
        description: 'JSON Schema, draft 7.',
        ...body({ type: 'object' }, undefined, 'application/schema+json'),
      },
    },
  ),
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
      security: [{ openIdClient: [] }, {}],
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
          description:
            'Mostly 400; 401 when the client is not authenticated, 429 when it asks too often.',
          ...body(ref(oauthError)),
        },
        500: { description: 'The request could not be kept.', ...body(ref(oauthError)) },
      },
    },
  },
};

export const machineSchemas = [
  alive,
  ready,
  unavailable,
  discovery,
  keySet,
  pushedRequest,
  pushedResponse,
  oauthError,
];
