/**
 * From a parsed body to one of the four requests, or to the fault that the client gets.
 *
 * Everything a client can get wrong about the form of a request ends here, as a value: nothing in this file throws for
 * a body, whatever it is. What the form cannot tell (who the caller is, whether the number is known) comes later.
 *
 * Which of several mistakes is reported is told in objections.ts.
 */
import { type Checked, ok, refuse } from './fault.ts';
import { problemOfJson } from './json.ts';
import { check } from './objections.ts';
import type { ProfileRequest, ReceiptRequest, SignatureRequest, StatusRequest } from './requests.ts';
import type { ProtocolRules } from './rules.ts';
import { readParams } from './schemas/profile.ts';
import {
  profileRequestSchema,
  receiptRequestSchema,
  signatureRequestSchema,
  statusRequestSchema,
} from './schemas.ts';
import { callerOf, msisdnOf } from './shared-members.ts';
import { createSignRequestReader, type MssSignatureReq } from './sign-request.ts';

/** The one member of a request's body, by operation. */
export const wrappers = {
  sign: 'MSS_SignatureReq',
  status: 'MSS_StatusReq',
  receipt: 'MSS_ReceiptReq',
  profile: 'MSS_ProfileReq',
} as const;
export type Operation = keyof typeof wrappers;

const operations = Object.keys(wrappers) as Operation[];

export interface Protocol {
  /** Which operation a body asks for. Fault 101 unless it has exactly one of the four wrappers. */
  operationOf(body: unknown): Checked<Operation>;
  /** `wire` is what gets stored: normalised, without AP_PWD, members in a fixed order. */
  parseSign(body: unknown): Checked<{ readonly request: SignatureRequest; readonly wire: MssSignatureReq }>;
  /**
   * Reads a stored sign request back: the content of MSS_SignatureReq, without the wrapper. Other services write such
   * data by hand, so it is trusted no more than a body.
   */
  parseStoredSign(data: unknown): Checked<SignatureRequest>;
  parseStatus(body: unknown): Checked<StatusRequest>;
  parseReceipt(body: unknown): Checked<ReceiptRequest>;
  parseProfile(body: unknown): Checked<ProfileRequest>;
}

/** Unknown members beside the wrapper are ignored, as everywhere. */
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

const isFor = (operation: Operation, body: unknown): boolean => {
  const found = operationOf(body);
  return found.ok && found.value === operation;
};

const wrongOperation = (operation: Operation): Checked<never> =>
  refuse(101, `Body must have ${wrappers[operation]} and no other request`);

const parseStatus = (body: unknown): Checked<StatusRequest> => {
  if (!isFor('status', body)) return wrongOperation('status');
  const checked = check(statusRequestSchema, body);
  if (!checked.ok) return checked;
  const { MSS_StatusReq: status } = checked.value;
  return ok({ caller: callerOf(status), msspTransId: status.MSSP_TransID });
};

const parseReceipt = (body: unknown): Checked<ReceiptRequest> => {
  if (!isFor('receipt', body)) return wrongOperation('receipt');
  const checked = check(receiptRequestSchema, body);
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
  if (!isFor('profile', body)) return wrongOperation('profile');
  const checked = check(profileRequestSchema, body);
  if (!checked.ok) return checked;
  const { MSS_ProfileReq: profile } = checked.value;
  return ok({
    caller: callerOf(profile),
    msisdn: msisdnOf(profile.MobileUser),
    params: readParams(profile.Params),
  });
};

/**
 * Prepares the schemas of one set of rules; make one and keep it.
 *
 * @param rules See {@link ProtocolRules}; {@link defaultProtocolRules} are those of the interface.
 */
export const createProtocol = (rules: ProtocolRules): Protocol => {
  const signSchema = signatureRequestSchema(rules);
  const signReader = createSignRequestReader(rules);

  return {
    operationOf,
    parseStatus,
    parseReceipt,
    parseProfile,

    parseSign: (body) => {
      if (!isFor('sign', body)) return wrongOperation('sign');
      const checked = check(signSchema, body);
      if (!checked.ok) return checked;
      const { MSS_SignatureReq: sign } = checked.value;
      return ok({ request: signReader.request(sign), wire: signReader.stored(sign) });
    },

    parseStoredSign: (data) => {
      const problem = problemOfJson(data);
      if (problem !== undefined) return refuse(101, `${wrappers.sign} ${problem}`);
      const checked = check(signSchema, { [wrappers.sign]: data });
      if (!checked.ok) return checked;
      const { caller, ...request } = signReader.request(checked.value.MSS_SignatureReq);
      // Whoever wrote a password into a job shall at least not see it travel on.
      return ok({ ...request, caller: { ...caller, apPassword: undefined } });
    },
  };
};
