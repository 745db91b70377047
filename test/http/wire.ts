/**
 * Requests sent as bytes, and the answers that come back.
 *
 * Whatever a test is about, each answer it gets is first held against what must be true of all of
 * them: the media type, compact JSON with members in ASCII order, a 200 with one response wrapper
 * whose schema describes it completely, or a 500 with a Fault that agrees with the fault table.
 */
import type { IncomingMessage } from 'node:http';
import { expect, vi } from 'vitest';
import { verifySignature } from '../../packages/pki/src/verify.ts';
import { type FaultCode, faultTable, isFaultCode } from '../../packages/protocol/src/fault.ts';
import { faultResponseSchema } from '../../packages/protocol/src/schemas/fault.ts';
import { profileResponseSchema } from '../../packages/protocol/src/schemas/profile.ts';
import { receiptResponseSchema } from '../../packages/protocol/src/schemas/receipt.ts';
import { signatureResponseSchema } from '../../packages/protocol/src/schemas/sign.ts';
import { statusResponseSchema } from '../../packages/protocol/src/schemas/status.ts';
import { toCanonicalJson } from '../../packages/protocol/test/canonical-json.ts';
import type { Json, TestProduct } from '../support/product.ts';
import { type SignOptions, signRequest, statusRequest } from '../support/requests.ts';

const contentType = 'application/json;charset=UTF-8';

export interface WireAnswer {
  readonly status: number;
  /** Of the header. */
  readonly retryAfter?: string;
  readonly text: string;
  readonly body: Json;
}

const responseSchemas = {
  MSS_SignatureResp: signatureResponseSchema,
  MSS_StatusResp: statusResponseSchema,
  MSS_ReceiptResp: receiptResponseSchema,
  MSS_ProfileResp: profileResponseSchema,
} as const;
export type ResponseWrapper = keyof typeof responseSchemas;

/** @returns The code of the fault. */
const expectFaultBody = (body: Json): FaultCode => {
  expect(faultResponseSchema.parse(body)).toEqual(body);
  const { Code, Reason } = body.Fault;
  const code = Number(Code.SubCode.Value.slice(1));
  if (!isFaultCode(code)) throw new Error(`${code} is not in the fault table`);
  expect({ reason: Reason, blame: Code.Value }).toEqual({
    reason: faultTable[code].reason,
    blame: faultTable[code].blame,
  });
  return code;
};

/** Reads an answer of the signature interface, and fails the test when it is not well formed. */
export const readAnswer = (
  status: number,
  type: string | null | undefined,
  text: string,
): WireAnswer => {
  expect(type).toBe(contentType);
  const body: Json = JSON.parse(text);
  expect(text).toBe(toCanonicalJson(body));
  const [wrapper, ...others] = Object.keys(body);
  expect(others).toEqual([]);
  if (wrapper === 'Fault') expectFaultBody(body);
  else {
    expect(status).toBe(200);
    expect(Object.keys(responseSchemas)).toContain(wrapper);
    expect(responseSchemas[wrapper as ResponseWrapper].parse(body)).toEqual(body);
  }
  return { status, text, body };
};

export interface SendOptions {
  readonly headers?: Record<string, string>;
  readonly incoming?: IncomingMessage;
}

/**
 * POSTs to a path of the signature interface: text and bytes as they are, anything else as JSON.
 */
export const send = async (
  { api }: Pick<TestProduct, 'api'>,
  path: string,
  body: unknown,
  { headers, incoming }: SendOptions = {},
): Promise<WireAnswer> => {
  const response = await api.fetch(
    new Request(`http://test${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body),
    }),
    incoming === undefined ? {} : { incoming },
  );
  const answer = readAnswer(
    response.status,
    response.headers.get('content-type'),
    await response.text(),
  );
  expect([200, 500]).toContain(answer.status);
  const retryAfter = response.headers.get('retry-after');
  return retryAfter === null ? answer : { ...answer, retryAfter };
};

export const sign = (
  product: Pick<TestProduct, 'api'>,
  options: SignOptions = {},
): Promise<WireAnswer> => send(product, '/rest/service/sign', signRequest(options));

/** Signs in asynch mode. @returns MSSP_TransID of the transaction that was accepted. */
export const accepted = async (
  product: Pick<TestProduct, 'api'>,
  options: SignOptions = {},
): Promise<string> => {
  const { body } = await sign(product, { ...options, mode: 'asynch' });
  expect(body).toHaveProperty('MSS_SignatureResp.Status.StatusCode.Value', '100');
  return body.MSS_SignatureResp.MSSP_TransID;
};

export const status = (
  product: Pick<TestProduct, 'api'>,
  msspTransId: string,
  apId?: string,
): Promise<WireAnswer> => send(product, '/rest/service/status', statusRequest(msspTransId, apId));

/** Polls as an AP does, until the answer is no longer 504 OUTSTANDING_TRANSACTION. */
export const ended = (
  product: Pick<TestProduct, 'api'>,
  msspTransId: string,
  apId?: string,
): Promise<WireAnswer> =>
  vi.waitFor(
    async () => {
      const answer = await status(product, msspTransId, apId);
      if (answer.body.MSS_StatusResp?.Status.StatusCode.Value === '504')
        throw new Error('still open');
      return answer;
    },
    { timeout: 50_000, interval: 20 },
  );

/** @param detail The whole text, when it matters. */
export const expectFault = (
  { status: http, body }: WireAnswer,
  code: FaultCode,
  detail?: string,
): void => {
  expect(body).toHaveProperty('Fault');
  expect({ http, code: body.Fault.Code.SubCode.Value, detail: body.Fault.Detail }).toEqual({
    http: 500,
    code: `_${code}`,
    detail: detail ?? body.Fault.Detail,
  });
};

/**
 * Holds Base64Signature of a sign or status answer against the service's root and the bytes that
 * were to be signed.
 *
 * @returns The serial number of the user who signed.
 */
export const expectSignature = async (
  { core }: Pick<TestProduct, 'core'>,
  { body }: WireAnswer,
  data: string,
): Promise<string> => {
  const { MSS_Signature } = body.MSS_SignatureResp ?? body.MSS_StatusResp ?? {};
  if (MSS_Signature === undefined)
    throw new Error(`An answer without a signature: ${JSON.stringify(body)}`);
  const cms = Buffer.from(MSS_Signature.Base64Signature, 'base64');
  expect(cms.toString('base64')).toBe(MSS_Signature.Base64Signature);
  const trust = await core.custodyOver(core.commands).trust();
  const verified = verifySignature(cms, data, { trust });
  if (!verified.ok) throw new Error(`The signature does not verify: ${verified.reason}`);
  expect(verified.signer.serialNumber).toMatch(/^MIDCHE[A-Z0-9]{10}$/);
  expect(verified.signer.commonName).toBe(`${verified.signer.serialNumber}:PN`);
  return verified.signer.serialNumber;
};
