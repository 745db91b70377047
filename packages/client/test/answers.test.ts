/**
 * What our own service writes is something that our own client reads, whatever else the client lets
 * pass.
 */
import { expect, it } from 'vitest';
import type { z } from 'zod';
import type { profileResponseSchema } from '../../protocol/src/schemas/profile.ts';
import type { receiptResponseSchema } from '../../protocol/src/schemas/receipt.ts';
import type { signatureResponseSchema } from '../../protocol/src/schemas/sign.ts';
import type { statusResponseSchema } from '../../protocol/src/schemas/status.ts';
import {
  faultAnswerSchema,
  type profileAnswerSchema,
  type receiptAnswerSchema,
  signatureAnswerSchema,
  statusAnswerSchema,
} from '../src/answers.ts';

interface Written {
  readonly MSS_SignatureResp: z.infer<typeof signatureResponseSchema>['MSS_SignatureResp'];
  readonly MSS_StatusResp: z.infer<typeof statusResponseSchema>['MSS_StatusResp'];
  readonly MSS_ReceiptResp: z.infer<typeof receiptResponseSchema>['MSS_ReceiptResp'];
  readonly MSS_ProfileResp: z.infer<typeof profileResponseSchema>['MSS_ProfileResp'];
}
type Read = z.input<typeof signatureAnswerSchema> &
  z.input<typeof statusAnswerSchema> &
  z.input<typeof receiptAnswerSchema> &
  z.input<typeof profileAnswerSchema>;

/** Compiles while every member that the client wants is one that the service writes. */
const isReadable = (written: Written): Read => written;

it('takes every answer of this service, by its type', () => {
  expect(isReadable).toBeTypeOf('function');
});

it.each([
  ['nothing', {}],
  ['no status', { MSS_StatusResp: {} }],
  ['a status without a code', { MSS_StatusResp: { Status: { StatusCode: {} } } }],
  [
    'an empty signature',
    { MSS_StatusResp: { Status: { StatusCode: { Value: '500' } }, MSS_Signature: {} } },
  ],
])('does not take %s', (_what, body) => {
  expect(statusAnswerSchema.safeParse(body).success).toBe(false);
});

it('takes codes and faults however they are spelled', () => {
  const status = statusAnswerSchema.parse({
    MSS_StatusResp: { Status: { StatusCode: { Value: 504 } } },
  });
  expect(status).toEqual({ state: 'outstanding' });
  const fault = (Value: string | number, more: object = {}) => ({
    Fault: { Code: { SubCode: { Value } }, ...more },
  });
  expect(faultAnswerSchema.parse(fault('401', { Detail: { text: 'no' } }))).toEqual({
    code: 401,
    reason: 'USER_CANCEL',
    detail: 'User cancelled the request',
  });
  expect(faultAnswerSchema.parse(fault(401)).code).toBe(401);
  expect(faultAnswerSchema.parse(fault('_777'))).toEqual({
    code: 777,
    reason: 'UNKNOWN',
    detail: '',
  });
});

it('takes no id, profile or location that is too long to be kept', () => {
  const answer = (member: object) => ({
    MSS_SignatureResp: { MSSP_TransID: 'H1', Status: { StatusCode: { Value: '100' } }, ...member },
  });
  const isTaken = (member: object) => signatureAnswerSchema.safeParse(answer(member)).success;
  const located = (Country: string) => ({ ServiceResponses: [{ Geofencing: { Country } }] });
  for (const member of [{}, { MSSP_TransID: 'H'.repeat(256) }, located('CH')]) {
    expect(isTaken(member)).toBe(true);
  }
  const long = 'H'.repeat(2000);
  for (const member of [{ MSSP_TransID: long }, { SignatureProfile: long }, located(long)]) {
    expect(isTaken(member)).toBe(false);
  }
});
