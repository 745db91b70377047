/**
 * Makes one of the four requests from a parsed body, or the fault for the client. Nothing here
 * throws for a body. Checks beyond the form (the caller, the number) come later. schema-errors.ts
 * decides which of several errors is reported.
 */
import type { z } from 'zod';
import { type Checked, ok, refuse } from './fault.ts';
import { findJsonError } from './json.ts';
import type {
  ProfileRequest,
  ReceiptRequest,
  SignatureRequest,
  StatusRequest,
} from './requests.ts';
import type { ProtocolRules } from './rules.ts';
import { check } from './schema-errors.ts';
import { profileRequestSchema, readParams } from './schemas/profile.ts';
import { receiptRequestSchema } from './schemas/receipt.ts';
import { signatureRequestSchema } from './schemas/sign.ts';
import { statusRequestSchema } from './schemas/status.ts';
import {
  callerOf,
  createSignRequestReader,
  type MssSignatureReq,
  msisdnOf,
} from './sign-request.ts';

/** The one member of a request's body, by operation. */
export const wrappers = {
  sign: 'MSS_SignatureReq',
  status: 'MSS_StatusReq',
  receipt: 'MSS_ReceiptReq',
  profile: 'MSS_ProfileReq',
} as const;
export type Operation = keyof typeof wrappers;

const operations = Object.keys(wrappers) as Operation[];

/**
 * The operation of a body. Other members beside the wrapper are ignored.
 *
 * @returns Fault 101 unless it has exactly one of the four wrappers.
 */
const operationOf = (body: unknown): Checked<Operation> => {
  const found =
    typeof body === 'object' && body !== null
      ? operations.filter((operation) => Object.hasOwn(body, wrappers[operation]))
      : [];
  const [operation] = found;
  return operation !== undefined && found.length === 1
    ? ok(operation)
    : refuse(101, `Body must have exactly one of ${Object.values(wrappers).join(', ')}`);
};

const checkFor = <Schema extends z.ZodType>(
  operation: Operation,
  schema: Schema,
  body: unknown,
): Checked<z.output<Schema>> => {
  const found = operationOf(body);
  return found.ok && found.value === operation
    ? check(schema, body)
    : refuse(101, `Body must have ${wrappers[operation]} and no other request`);
};

const parseStatus = (body: unknown): Checked<StatusRequest> => {
  const checked = checkFor('status', statusRequestSchema, body);
  if (!checked.ok) return checked;
  const { MSS_StatusReq: status } = checked.value;
  return ok({ caller: callerOf(status), msspTransId: status.MSSP_TransID });
};

const parseReceipt = (body: unknown): Checked<ReceiptRequest> => {
  const checked = checkFor('receipt', receiptRequestSchema, body);
  if (!checked.ok) return checked;
  const { MSS_ReceiptReq: receipt } = checked.value;
  const extension = receipt.Status?.StatusDetail?.ReceiptRequestExtension;
  return ok({
    caller: callerOf(receipt),
    msspTransId: receipt.MSSP_TransID,
    msisdn: msisdnOf(receipt.MobileUser),
    message: receipt.Message.Data,
    extension: extension && { language: extension.ReceiptProfile.Language },
  });
};

const parseProfile = (body: unknown): Checked<ProfileRequest> => {
  const checked = checkFor('profile', profileRequestSchema, body);
  if (!checked.ok) return checked;
  const { MSS_ProfileReq: profile } = checked.value;
  return ok({
    caller: callerOf(profile),
    msisdn: msisdnOf(profile.MobileUser),
    params: readParams(profile.Params),
  });
};

/** Prepares the schemas of one set of rules; make one and keep it. */
export const createProtocol = (rules: ProtocolRules) => {
  const signSchema = signatureRequestSchema(rules);
  const signReader = createSignRequestReader(rules);

  return {
    operationOf,
    parseStatus,
    parseReceipt,
    parseProfile,

    /** `wire` is the stored form: normalised, without AP_PWD, with members in a fixed order. */
    parseSign: (
      body: unknown,
    ): Checked<{ readonly request: SignatureRequest; readonly wire: MssSignatureReq }> => {
      const checked = checkFor('sign', signSchema, body);
      if (!checked.ok) return checked;
      const { MSS_SignatureReq: sign } = checked.value;
      return ok({ request: signReader.request(sign), wire: signReader.stored(sign) });
    },

    /**
     * Reads a stored sign request, without its wrapper. Other services may have written it by hand.
     */
    parseStoredSign: (data: unknown): Checked<SignatureRequest> => {
      const error = findJsonError(data);
      if (error !== undefined) return refuse(101, `${wrappers.sign} ${error}`);
      const checked = check(signSchema, { [wrappers.sign]: data });
      if (!checked.ok) return checked;
      const { caller, ...request } = signReader.request(checked.value.MSS_SignatureReq);
      // A password in a job is not passed on.
      return ok({ ...request, caller: { ...caller, apPassword: undefined } });
    },
  };
};

export type Protocol = ReturnType<typeof createProtocol>;
