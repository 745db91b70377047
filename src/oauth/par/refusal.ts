/**
 * Errors of a request, and what the client is told. Texts are fixed: they may name a parameter of
 * ours and never contain what the client has sent.
 *
 * Sources: RFC 9126 2.3, RFC 6749 4.1.2.1 and 5.2, RFC 9101 7, RFC 9449 7.1.
 */
import { describeError, type ErrorCause } from '../error-codes.ts';
import { errors } from '../library.ts';
import { storeAway } from '../store-away.ts';
import type { keptParameters } from './parameters.ts';

export type ParameterName = (typeof keptParameters)[number];

export interface WireError {
  readonly status: 400 | 401 | 405 | 408 | 413 | 429 | 500 | 503;
  readonly error: string;
  readonly cause: ErrorCause;
  /** Printable ASCII without quotes and backslashes. */
  readonly text: string;
}

const wire = (
  error: string,
  text: string,
  cause: ErrorCause = 'otherRequest',
  status: WireError['status'] = 400,
): WireError => ({ status, error, cause, text });

const invalid = (text: string, cause?: ErrorCause, status?: WireError['status']): WireError =>
  wire('invalid_request', text, cause, status);

const objectError = (text: string): WireError => wire('invalid_request_object', text);

const proofError = (text: string): WireError => wire('invalid_dpop_proof', text);

const fixed = {
  methodNotAllowed: invalid('use POST', undefined, 405),
  bodyKind: invalid('Content-Type must be application/x-www-form-urlencoded'),
  bodyTooLarge: invalid('the body is too large', undefined, 413),
  bodyTooSlow: invalid('the body did not arrive in time', undefined, 408),
  bodyIncomplete: invalid('the body is incomplete'),
  tenantUnknown: invalid('Issuer or Tenant-ID names nobody here'),
  tenantsDisagree: invalid('the address, Issuer and Tenant-ID do not name the same tenant'),
  formMalformed: invalid('the body is not form-encoded UTF-8'),
  nothingSent: invalid('the body has no parameters', 'nothingSent'),
  tooMany: wire('temporarily_unavailable', 'too many requests', undefined, 429),
  severalMethods: invalid('use one way of client authentication'),
  assertionType: invalid(
    'client_assertion needs the client_assertion_type jwt-bearer, and the other way round',
  ),
  clientUnnamed: invalid('client_id is missing'),
  clientRefused: wire('invalid_client', 'client authentication failed', undefined, 401),
  otherClient: invalid('client_id is not the authenticated client'),
  requestUri: invalid('request_uri must not be pushed'),
  registration: wire('registration_not_supported', 'registration is not supported'),
  requestObjectMissing: invalid('this client must send a signed request'),
  responseType: wire('unsupported_response_type', 'response_type must be code'),
  redirectUri: invalid('redirect_uri is not registered for this client'),
  challengeMethod: invalid('code_challenge_method must be S256'),
  promptNone: invalid('prompt none must stand alone'),
  openidMissing: wire('invalid_scope', 'scope must contain openid', 'badScope'),
  scopeUnknown: wire('invalid_scope', 'scope has an unknown or malformed value', 'badScope'),
  scopeNotAllowed: wire(
    'invalid_scope',
    'scope has a value that this client may not ask for',
    'scopeNotAllowed',
  ),
  acrUnknown: invalid('acr_values has an unknown value', 'acrUnknown'),
  acrMalformed: invalid('acr_values is malformed', 'acrMalformed'),
  localesMalformed: invalid('ui_locales is malformed', 'localesMalformed'),
  testNumber: wire(
    'unauthorized_client',
    'login_hint is not allowed for this client',
    'parameterNotAllowed',
  ),
  dtbdNotAllowed: invalid('dtbd is not allowed for this client', 'parameterNotAllowed'),
  dtbdUnshowable: invalid('dtbd must be a text that a phone can show'),
  idTokenHint: invalid('id_token_hint is not an ID token for this client'),
  broken: wire('server_error', 'the request could not be kept', 'internal', 500),
  storeAway: wire(storeAway.error, storeAway.text, 'internal', storeAway.status),
  noHints: invalid('login_hint has no hints', 'noHints'),
  badMsisdn: invalid('login_hint has an msisdn that is no international number', 'badMsisdn'),
  duplicateMsisdn: invalid('login_hint has the same msisdn twice', 'duplicateMsisdn'),
  badLoginHint: invalid('login_hint must be a number or a JSON object with hints', 'badLoginHint'),
  objectMalformed: objectError('request is not a signed JWT'),
  objectAlgorithm: objectError('request must be signed with RS256, PS256, ES256, EdDSA or Ed25519'),
  objectSignature: objectError('the signature of request does not fit the registered keys'),
  objectTime: objectError('request is expired or not valid yet'),
  objectAudience: objectError('aud of request must be the issuer'),
  objectClient: objectError('iss and client_id of request must be the client'),
  objectType: objectError('typ of request must be oauth-authz-req+jwt'),
  objectNested: objectError('request must not contain request or request_uri'),
  objectContents: objectError('request must contain texts, numbers and booleans only'),
  proofMalformed: proofError(
    'DPoP must be one proof, signed with ES256 or EdDSA by the public key that it brings',
  ),
  proofClaims: proofError('DPoP needs jti, iat, htm and htu, and no nonce'),
  proofHtm: proofError('htm of DPoP must be the method of the request'),
  proofHtu: proofError('htu of DPoP must be the address of this endpoint'),
  proofIat: proofError('iat of DPoP is too old or in the future'),
  proofReplayed: proofError('DPoP was used before'),
  proofOtherKey: proofError('dpop_jkt is not the key of DPoP'),
} as const;

export type ParRefusal =
  | { readonly reason: keyof typeof fixed }
  /** `name` is undefined unless it is a parameter of ours. */
  | { readonly reason: 'parameterRepeated'; readonly name: string | undefined }
  | {
      readonly reason: 'parameterMissing' | 'parameterMalformed' | 'openidNeeded';
      readonly name: ParameterName;
    };

export type Outcome<Value> = { readonly value: Value } | { readonly refusal: ParRefusal };

export const refuse = (refusal: ParRefusal): { readonly refusal: ParRefusal } => ({ refusal });

export const wireErrorOf = (refusal: ParRefusal): WireError => {
  switch (refusal.reason) {
    case 'parameterRepeated':
      return invalid(`${refusal.name ?? 'a parameter'} is given more than once`);
    case 'parameterMissing':
      return invalid(`${refusal.name} is missing`);
    case 'parameterMalformed':
      return invalid(`${refusal.name} is malformed or not supported`);
    case 'openidNeeded':
      return invalid(`${refusal.name} needs the scope openid`);
    default:
      return fixed[refusal.reason];
  }
};

export const errorForLibrary = (refusal: ParRefusal): Error => {
  const { error, cause, text } = wireErrorOf(refusal);
  return new errors.CustomOIDCProviderError(error, describeError(cause, text).description);
};
