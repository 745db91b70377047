/** What browsers send to `/phone/api/`. Binary members are base64url unless they say otherwise. */
import { z } from 'zod';
import { pageLanguages } from '../../src/http/pages/languages.ts';
import { subscriptionSchema } from './phones.ts';

const bytes = (length: number) =>
  z.base64url().refine((text) => Buffer.from(text, 'base64url').length === length, {
    error: `must be base64url of ${length} bytes`,
  });

const pinGate = z.strictObject({
  kind: z.literal('pin'),
  salt: bytes(16).describe('Of PBKDF2-SHA-256 over the PIN, which never leaves the browser'),
  verifier: bytes(32).describe('Bytes 32 to 63 of what PBKDF2 gives; the others wrap the key'),
});

/** A WebAuthn response as `@simplewebauthn/browser` and `PublicKeyCredential.toJSON` give it. */
const credential = z.looseObject({
  id: z.base64url().max(1024),
  rawId: z.base64url().max(1024),
  type: z.literal('public-key'),
  response: z.looseObject({
    clientDataJSON: z.base64url().max(4096),
    attestationObject: z.base64url().max(65_536).optional(),
  }),
});

const codeId = z.string().min(1).max(32);

export const optionsRequest = z.strictObject({ code: z.strictObject({ id: codeId }) });

export const enrolmentRequest = z.strictObject({
  code: z.strictObject({
    id: codeId,
    mac: bytes(32).describe('HMAC-SHA-256 over the request, DER'),
  }),
  request: z.base64().max(2048).describe('PKCS #10, DER, in base64'),
  gate: z.discriminatedUnion('kind', [
    pinGate,
    z.strictObject({ kind: z.literal('passkey'), response: credential }),
  ]),
  language: z.enum(pageLanguages),
  label: z.string().trim().min(1).max(60).describe('Of the browser, for lists'),
});
export type EnrolmentRequest = z.output<typeof enrolmentRequest>;

export const pinRequest = z.strictObject({ verifier: bytes(32) });
export const recoveryRequest = z.strictObject({ code: z.string().min(1).max(64), gate: pinGate });
export type RecoveryRequest = z.output<typeof recoveryRequest>;

export const signatureRequest = z.strictObject({
  signature: bytes(64).describe('r and s of ECDSA P-256 with SHA-256 over `toBeSigned`'),
  assertion: credential.optional(),
});
export type SignatureRequest = z.output<typeof signatureRequest>;
export type Credential = z.output<typeof credential>;

export const joinRequest = z.strictObject({
  code: z.string().min(1).max(200).describe('Of the page of a login: its QR code, or its button'),
});

export const receiptRequest = z.strictObject({ outcome: z.enum(['accepted', 'cancelled']) });
export const pushRequest = subscriptionSchema;
