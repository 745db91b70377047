/**
 * Why a request is not taken, and what the client is told. Texts are fixed words: they may name a parameter of ours, and never
 * hold what the client has sent.
 *
 * Sources: RFC 9126 section 2.3, RFC 6749 sections 4.1.2.1 and 5.2, RFC 9101 section 7, RFC 9449 section 7.1.
 */
import type { ErrorCause } from '../error-codes.ts';
import type { ProofProblem } from './dpop-proof.ts';
import type { keptParameters } from './parameters.ts';
import type { ObjectProblem } from './request-object.ts';

export type ParameterName = (typeof keptParameters)[number];

export type Refusal =
  | { readonly reason: 'methodNotAllowed' }
  | { readonly reason: 'bodyKind' | 'bodyTooLarge' | 'bodyTooSlow' | 'bodyIncomplete' }
  | { readonly reason: 'tenantUnknown' | 'tenantsDisagree' }
  | { readonly reason: 'formMalformed' | 'nothingSent' }
  /** `name` is undefined when it is none of ours. */
  | { readonly reason: 'parameterRepeated'; readonly name: string | undefined }
  | { readonly reason: 'tooMany' }
  | {
      readonly reason: 'severalMethods' | 'assertionType' | 'clientUnnamed' | 'clientRefused' | 'otherClient';
    }
  | { readonly reason: 'requestUri' | 'registration' }
  | { readonly reason: 'requestObject'; readonly problem: ObjectProblem }
  | { readonly reason: 'requestObjectMissing' }
  | { readonly reason: 'parameterMissing' | 'parameterMalformed'; readonly name: ParameterName }
  | { readonly reason: 'responseType' | 'redirectUri' | 'challengeMethod' | 'promptNone' }
  | { readonly reason: 'openidMissing' | 'scopeUnknown' | 'scopeNotAllowed' }
  | { readonly reason: 'openidNeeded'; readonly name: ParameterName }
  | { readonly reason: 'acrUnknown' | 'acrMalformed' | 'localesMalformed' }
  | {
      readonly reason: 'loginHint';
      readonly problem: 'noHints' | 'badMsisdn' | 'duplicateMsisdn' | 'badLoginHint';
    }
  | { readonly reason: 'testNumber' | 'dtbdNotAllowed' | 'dtbdUnshowable' }
  | { readonly reason: 'idTokenHint' }
  | { readonly reason: 'dpopProof'; readonly problem: ProofProblem }
  | { readonly reason: 'broken' };

export interface WireError {
  readonly status: 400 | 401 | 405 | 408 | 413 | 429 | 500;
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

const hintTexts = {
  noHints: 'login_hint has no hints',
  badMsisdn: 'login_hint has an msisdn that is no international number',
  duplicateMsisdn: 'login_hint has the same msisdn twice',
  badLoginHint: 'login_hint must be a number or a JSON object with hints',
} as const;

const objectTexts: Readonly<Record<ObjectProblem, string>> = {
  malformed: 'request is not a signed JWT',
  algorithm: 'request must be signed with RS256, PS256, ES256 or EdDSA',
  signature: 'the signature of request does not fit the registered keys',
  time: 'request is expired or not valid yet',
  audience: 'aud of request must be the issuer',
  client: 'iss and client_id of request must be the client',
  type: 'typ of request must be oauth-authz-req+jwt',
  nested: 'request must not contain request or request_uri',
  contents: 'request must contain texts, numbers and booleans only',
};

const proofTexts: Readonly<Record<ProofProblem, string>> = {
  malformed: 'DPoP must be one proof, signed with ES256 or EdDSA by the public key that it brings',
  claims: 'DPoP needs jti, iat, htm and htu, and no nonce',
  htm: 'htm of DPoP must be POST',
  htu: 'htu of DPoP must be the address of this endpoint',
  iat: 'iat of DPoP is too old or in the future',
  replayed: 'DPoP was used before',
  otherKey: 'dpop_jkt is not the key of DPoP',
};

export const wireErrorOf = (refusal: Refusal): WireError => {
  switch (refusal.reason) {
    case 'methodNotAllowed':
      return invalid('use POST', undefined, 405);
    case 'bodyKind':
      return invalid('Content-Type must be application/x-www-form-urlencoded');
    case 'bodyTooLarge':
      return invalid('the body is too large', undefined, 413);
    case 'bodyTooSlow':
      return invalid('the body did not arrive in time', undefined, 408);
    case 'bodyIncomplete':
      return invalid('the body is incomplete');
    case 'tenantUnknown':
      return invalid('Issuer or Tenant-ID names nobody here');
    case 'tenantsDisagree':
      return invalid('the address, Issuer and Tenant-ID do not name the same tenant');
    case 'formMalformed':
      return invalid('the body is not form-encoded UTF-8');
    case 'nothingSent':
      return invalid('the body has no parameters', 'nothingSent');
    case 'parameterRepeated':
      return invalid(`${refusal.name ?? 'a parameter'} is given more than once`);
    case 'tooMany':
      return wire('temporarily_unavailable', 'too many requests', undefined, 429);
    case 'severalMethods':
      return invalid('use one way of client authentication');
    case 'assertionType':
      return invalid('client_assertion needs the client_assertion_type jwt-bearer, and the other way round');
    case 'clientUnnamed':
      return invalid('client_id is missing');
    case 'clientRefused':
      return wire('invalid_client', 'client authentication failed', undefined, 401);
    case 'otherClient':
      return invalid('client_id is not the authenticated client');
    case 'requestUri':
      return invalid('request_uri must not be pushed');
    case 'registration':
      return wire('registration_not_supported', 'registration is not supported');
    case 'requestObject':
      return wire('invalid_request_object', objectTexts[refusal.problem]);
    case 'requestObjectMissing':
      return invalid('this client must send a signed request');
    case 'parameterMissing':
      return invalid(`${refusal.name} is missing`);
    case 'parameterMalformed':
      return invalid(`${refusal.name} is malformed or not supported`);
    case 'responseType':
      return wire('unsupported_response_type', 'response_type must be code');
    case 'redirectUri':
      return invalid('redirect_uri is not registered for this client');
    case 'challengeMethod':
      return invalid('code_challenge_method must be S256');
    case 'promptNone':
      return invalid('prompt none must stand alone');
    case 'openidMissing':
      return wire('invalid_scope', 'scope must contain openid', 'badScope');
    case 'scopeUnknown':
      return wire('invalid_scope', 'scope has an unknown or malformed value', 'badScope');
    case 'scopeNotAllowed':
      return wire('invalid_scope', 'scope has a value that this client may not ask for', 'scopeNotAllowed');
    case 'openidNeeded':
      return invalid(`${refusal.name} needs the scope openid`);
    case 'acrUnknown':
      return invalid('acr_values has an unknown value', 'acrUnknown');
    case 'acrMalformed':
      return invalid('acr_values is malformed', 'acrMalformed');
    case 'localesMalformed':
      return invalid('ui_locales is malformed', 'localesMalformed');
    case 'loginHint':
      return invalid(hintTexts[refusal.problem], refusal.problem);
    case 'testNumber':
      return wire('unauthorized_client', 'login_hint is not allowed for this client', 'parameterNotAllowed');
    case 'dtbdNotAllowed':
      return invalid('dtbd is not allowed for this client', 'parameterNotAllowed');
    case 'dtbdUnshowable':
      return invalid('dtbd must be a text that a phone can show');
    case 'idTokenHint':
      return invalid('id_token_hint is not an ID token for this client');
    case 'dpopProof':
      return wire('invalid_dpop_proof', proofTexts[refusal.problem]);
    case 'broken':
      return wire('server_error', 'the request could not be kept', 'internal', 500);
  }
};
