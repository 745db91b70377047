/**
 * The OpenID provider: pushed requests, what clients prove, and how relying parties validate an ID
 * token.
 */
import type { Row } from '../row.ts';

const push = 'test/oauth/par/push.test.ts';
const route = 'test/oauth/par/par.route.test.ts';
const authentication = 'test/oauth/client-authentication.test.ts';
const login = 'test/oauth/interaction/login.e2e.test.ts › a login at the browser';
const keyCache = 'packages/relying-party/test/jwks-cache.test.ts › the key cache';

export const openidRows: readonly Row[] = [
  {
    id: 'interface-2.6-1',
    source: 'interface 2.6',
    rule: 'The answer to a pushed request has request_uri, a handle under the URN for request URIs.',
    tests: [
      `${push} › a valid request > is answered with a handle of its own that nobody can guess, and its lifetime`,
      `${route} › /par > answers in the words of the interface`,
    ],
  },
  {
    id: 'interface-2.6-2',
    source: 'interface 2.6',
    rule: 'The answer to a pushed request has expires_in, the configured lifetime of the handle as an integer of seconds.',
    tests: [
      `${push} › a valid request > is answered with a handle of its own that nobody can guess, and its lifetime`,
      `${route} › /par > answers in the words of the interface`,
    ],
  },
  {
    id: 'interface-4.5-1',
    source: 'interface 4.5',
    rule: 'Requests are pushed by POST to /par below the address of the provider.',
    tests: [
      `${route} › /par > answers in the words of the interface`,
      `${route} › /par > answers %s with 405 and what is allowed`,
    ],
  },
  {
    id: 'interface-4.5-2',
    source: 'interface 4.5',
    rule: 'A confidential client that is registered for client_secret_basic proves itself in the header Authorization.',
    tests: [
      `${authentication} › a secret > proves a client by the method that it is registered with`,
      `${authentication} › a secret > is read from the header as RFC 6749 writes it there, whatever its characters are`,
    ],
  },
  {
    id: 'interface-4.5-3',
    source: 'interface 4.5',
    rule: 'The Content-Type of a pushed request must be application/x-www-form-urlencoded.',
    tests: [
      `${route} › /par > takes nothing but forms`,
      `${push} › a request is refused > when its content type is %s`,
    ],
  },
  {
    id: 'interface-4.5-4',
    source: 'interface 4.5',
    rule: 'The header Issuer is optional, and names the tenant by the URL of its issuer.',
    tests: [
      `${push} › the tenant > is chosen by %s, and its handle is unknown to the other`,
      `${push} › the tenant > is refused when %s`,
    ],
  },
  {
    id: 'interface-4.5-5',
    source: 'interface 4.5',
    rule: 'The header Tenant-ID is optional, and names the tenant by its id.',
    tests: [
      `${push} › the tenant > is chosen by %s, and its handle is unknown to the other`,
      'test/oauth/tenants.test.ts › the headers of the interface > lead a pushed request to its tenant, and its handle is known there only',
    ],
  },
  {
    id: 'interface-4.5-6',
    source: 'interface 4.5',
    rule: 'The body holds the parameters of an authorisation request, which are kept as they were sent.',
    tests: [
      `${push} › a valid request > is kept for the library with what was asked for, and nothing else`,
      `${push} › a valid request > keeps state and nonce of 384 characters unaltered, and much longer ones`,
    ],
  },
  {
    id: 'interface-4.5-7',
    source: 'interface 4.5',
    rule: 'A public client sends code_challenge, the code_challenge_method S256 and no header Authorization.',
    tests: [
      `${push} › a public client > needs PKCE and no Authorization header`,
      `${push} › a public client > is refused with %s`,
      `${push} › a public client > is refused with an Authorization header`,
    ],
  },
  {
    id: 'interface-4.5-8',
    source: 'interface 4.5',
    rule: 'A pushed request that is accepted is answered with HTTP 200; for a client whose library wants it, 201 can be configured.',
    tests: [
      `${push} › a valid request > is answered with a handle of its own that nobody can guess, and its lifetime`,
      `${push} › a valid request > is answered 201 for a client that wants it`,
    ],
  },
  {
    id: 'interface-4.5-9',
    source: 'interface 4.5',
    rule: 'The answer is application/json with Cache-Control no-store and Pragma no-cache.',
    tests: [
      `${route} › /par > answers in the words of the interface`,
      `${push} › whatever is sent > is answered with 2xx or 4xx, in JSON that nobody keeps`,
    ],
  },
  {
    id: 'interface-4.5-10',
    source: 'interface 4.5',
    rule: 'The client sends the user to the authorisation endpoint with the request_uri, and nothing beside it counts.',
    tests: [
      `${login} > goes from the client to the phone and back, and gives tokens about the person`,
      'test/oauth/interoperability/front-channel.test.ts › beside a pushed request > no other parameter counts',
    ],
  },
  {
    id: 'interface-4.5-11',
    source: 'interface 4.5',
    rule: 'The discovery document and the key set are at /.well-known/openid-configuration and /jwks.json below the address of the provider.',
    tests: [
      'test/oauth/tenants.test.ts › each tenant > has an issuer, endpoints and keys of its own',
      'test/oauth/interoperability/oauth4webapi.e2e.test.ts › oauth4webapi > finds in the discovery document what this server does',
    ],
  },
  {
    id: 'interface-5.2-1',
    source: 'interface 5.2',
    rule: 'A confidential client may prove itself with HTTP Basic, or with parameters in the body, as it is registered.',
    tests: [
      `${authentication} › a secret > proves a client by the method that it is registered with`,
      `${authentication} › an assertion > may be of any of the registered keys, and of the only one whatever it is called`,
      'test/oauth/interoperability/oauth4webapi.e2e.test.ts › oauth4webapi > is let in at every endpoint by the registered method only: %s with %s',
      'test/oauth/one-rule.test.ts › a client > gets the same answer everywhere for %s',
    ],
  },
  {
    id: 'interface-5.2-2',
    source: 'interface 5.2',
    rule: 'A client that cannot prove itself is refused when it pushes, before any user is sent anywhere.',
    tests: [
      `${authentication} › a secret > that is %s is refused, with one and the same reason`,
      `${route} › /par > says Basic where Basic was tried and nowhere else`,
    ],
  },
  {
    id: 'interface-5.2-3',
    source: 'interface 5.2',
    rule: 'The parameters are checked when they are pushed, before any user is sent anywhere.',
    tests: [
      `${push} › a request is refused > when %s`,
      `${route} › what is taken here > is taken by the library, too: %s`,
    ],
  },
  {
    id: 'interface-5.2-4',
    source: 'interface 5.2',
    rule: 'A public client uses PKCE.',
    tests: [
      `${push} › a public client > is refused with %s`,
      'test/oauth/tokens.e2e.test.ts › tokens > come for the code of the client that asked, with its verifier and address only',
    ],
  },
  {
    id: 'interface-5.3-1',
    source: 'interface 5.3',
    rule: 'The key of an ID token is the one of the key set that the kid of its header names.',
    tests: [
      'packages/relying-party/test/good-tokens.test.ts › a good ID token > is accepted with %s and an at_hash of %s',
      `${keyCache} > says that a key is there and cannot be used for the algorithm, and fetches nothing for that`,
    ],
  },
  {
    id: 'interface-5.3-2',
    source: 'interface 5.3',
    rule: 'A relying party caches the key set.',
    tests: [`${keyCache} > fetches nothing before the first token, and once for all that follow`],
  },
  {
    id: 'interface-5.3-3',
    source: 'interface 5.3',
    rule: 'A relying party refreshes the key set for an unknown kid.',
    tests: [
      `${keyCache} > sees a rotated key at once when nothing was fetched lately`,
      `${keyCache} > sees a rotated key once the cool-down is over, also in a flood`,
    ],
  },
  {
    id: 'interface-5.3-4',
    source: 'interface 5.3',
    rule: 'The signature of an ID token must be right.',
    tests: [
      'packages/relying-party/test/tampering.test.ts › a good token with %s > is refused when any bit of any segment is another one',
    ],
  },
  {
    id: 'interface-5.3-5',
    source: 'interface 5.3',
    rule: 'ID tokens are signed with RS256 unless the client is configured for another algorithm.',
    tests: [
      'test/app/configuration/oidc.test.ts › the configuration of logins > opens no door for a client that does not ask for it',
      'test/oauth/interoperability/openid-client.e2e.test.ts › openid-client logs in > with ID tokens and authorisation answers signed with %s',
    ],
  },
  {
    id: 'interface-5.3-6',
    source: 'interface 5.3',
    rule: 'An ID token is refused unless iss is the issuer, aud has the client, exp is to come and nonce is the one that was sent.',
    tests: [
      `packages/relying-party/test/bad-tokens.test.ts › a bad ID token (%s) > is refused with \${name}`,
      'packages/relying-party/test/bad-tokens.test.ts › a refusal > is shown here for every reason but the one that needs a provider which is away',
    ],
  },
  {
    id: 'interface-5.4-1',
    source: 'interface 5.4',
    rule: 'State and nonce of any useful length come back unaltered.',
    tests: [
      `${push} › a valid request > keeps state and nonce of 384 characters unaltered, and much longer ones`,
    ],
  },
  {
    id: 'interface-5.4-2',
    source: 'interface 5.4',
    rule: 'The authorisation response has the state of the request, so that the client can check it.',
    tests: [
      `${login} > goes from the client to the phone and back, and gives tokens about the person`,
      'test/oauth/interaction/login.e2e.test.ts › a login that fails > with %s tells the person why, and the client %s with %s',
    ],
  },
  {
    id: 'interface-5.4-3',
    source: 'interface 5.4',
    rule: 'The token response says which scopes were granted.',
    tests: [
      `${login} > goes from the client to the phone and back, and gives tokens about the person`,
    ],
  },
  {
    id: 'interface-5.4-4',
    source: 'interface 5.4',
    rule: 'A relying party checks the state of the authorisation response and the scopes of the token response.',
    tests: [
      'packages/relying-party/test/responses.test.ts › an authorisation response > is judged: %s',
      'packages/relying-party/test/responses.test.ts › the scopes of a token response > are compared with those asked for: %s',
    ],
  },
  {
    id: 'interface-5.5-1',
    source: 'interface 5.5',
    rule: 'Credentials of clients and tokens are kept secret: they are in no log, no key or value of Redis, no refusal and no page.',
    tests: [
      'test/oauth/secrets.test.ts › what would let somebody in > is in no line of the log',
      'test/oauth/secrets.test.ts › what would let somebody in > is in no key and no value of Redis',
      'test/oauth/secrets.test.ts › what would let somebody in > is in no answer that refuses something, and on no page',
    ],
  },
  {
    id: 'interface-5.5-2',
    source: 'interface 5.5',
    rule: 'A client that fears for a token can end it: a refresh token ends with everything that came of it.',
    tests: [
      'test/oauth/tokens.e2e.test.ts › what ends tokens > revoking a refresh token ends everything that came of it',
      'test/oauth/tokens.e2e.test.ts › what ends tokens > revoking an access token ends it at once',
    ],
  },
  {
    id: 'interface-5.5-3',
    source: 'interface 5.5',
    rule: 'A client whose credentials are compromised gets a new secret, and its tokens end, without a restart.',
    tests: [
      'test/oauth/client-changes.e2e.test.ts › the secret of a client > is rotated while both of two count, and the older one is then ended',
      'test/oauth/client-changes.e2e.test.ts › the tokens of a client > end all at once, and only those of logins so far and of this client',
    ],
  },
  {
    id: 'interface-7.5-1',
    source: 'interface 7.5',
    rule: 'The errors of /par, which the interface leaves open, are those of OAuth: a status 4xx and JSON with error and error_description.',
    tests: [
      `${push} › a request is refused > when %s`,
      `${push} › whatever is sent > is answered with 2xx or 4xx, in JSON that nobody keeps`,
      `${route} › a service that cannot do its work > says so in the words of OAuth, and logs why`,
    ],
  },
  {
    id: 'interface-7.5-2',
    source: 'interface 7.5',
    rule: 'An error of /par repeats nothing that was sent.',
    tests: [`${push} › whatever is sent > does not come back in an answer or in the log`],
  },
  {
    id: 'interface-8-3',
    source: 'interface 8',
    rule: 'A request_uri lives for expires_in seconds, as configured.',
    tests: [
      `${push} › a valid request > is answered with a handle of its own that nobody can guess, and its lifetime`,
      `${push} › a valid request > is kept for the library with what was asked for, and nothing else`,
    ],
  },
];
