/** Calls the signature interface and says in the journal's terms what it was told. */
import { Buffer } from 'node:buffer';
import { X509Certificate } from 'node:crypto';
import { fetchWithoutTimeout } from '../../packages/client/src/fetch.ts';
import { profileRequest } from '../support/requests.ts';
import type { Told } from './journal.ts';
import { applicationId } from './people.ts';

const profileWithinMs = 15_000;

const reactions: Readonly<Record<string, string>> = {
  OK: 'accepted',
  CANCEL: 'cancelled',
  TIMEOUT: 'timeout',
};

// biome-ignore lint/suspicious/noExplicitAny: answers are looked into where they should have something.
const read = (body: any): Told => {
  const fault = body.Fault;
  if (fault !== undefined) {
    const code = Number(fault.Code.SubCode.Value.slice(1));
    return { kind: 'fault', code, detail: fault.Detail };
  }
  const receipt = body.MSS_ReceiptResp;
  if (receipt !== undefined) {
    const extension = receipt.Status.StatusDetail.ReceiptResponseExtension;
    const word = /"status"\s*:\s*"([A-Z]+)"/.exec(extension.UserResponse ?? '')?.[1] ?? '';
    return {
      kind: 'reaction',
      reaction: extension.UserAck === 'false' ? 'unanswered' : (reactions[word] ?? word),
    };
  }
  const answer = body.MSS_SignatureResp ?? body.MSS_StatusResp;
  const id: string | undefined = body.MSS_SignatureResp?.MSSP_TransID;
  const code = answer.Status.StatusCode.Value;
  if (code === '504') return { kind: 'open' };
  if (code === '500' || code === '502')
    return { kind: 'signed', id, signature: answer.MSS_Signature.Base64Signature };
  return { kind: 'delivered', id };
};

/**
 * @param asynch A sign request whose 100 means that it was accepted, not that a text was delivered.
 */
export const call = async (
  url: string,
  operation: 'sign' | 'status' | 'receipt',
  body: object,
  { withinMs, asynch = false }: { readonly withinMs: number; readonly asynch?: boolean },
): Promise<Told> => {
  try {
    const response = await fetchWithoutTimeout(`${url}/rest/service/${operation}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(withinMs),
      redirect: 'manual',
    });
    const told = read(JSON.parse(Buffer.from(await response.arrayBuffer()).toString()));
    if (asynch && told.kind === 'delivered' && told.id !== undefined)
      return { kind: 'accepted', id: told.id };
    return told;
  } catch (error) {
    return { kind: 'unknown', cause: error instanceof Error ? error.name : 'no answer' };
  }
};

/** Of the certificates that the service names for a number; none when it does not answer. */
export const serialNumbersOf = async (url: string, msisdn: string): Promise<readonly string[]> => {
  const { MSS_ProfileReq: request } = profileRequest(msisdn, 'sscds certs');
  const body = {
    MSS_ProfileReq: { ...request, AP_Info: { ...request.AP_Info, AP_ID: applicationId } },
  };
  const response = await fetchWithoutTimeout(`${url}/rest/service/profile`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(profileWithinMs),
    redirect: 'manual',
  });
  const text = Buffer.from(await response.arrayBuffer()).toString();
  const users = [...text.matchAll(/"X509Certificate":\["([^"]+)"/g)].map(([, der = '']) => der);
  return users.flatMap((der) => {
    const { subject } = new X509Certificate(Buffer.from(der, 'base64'));
    return /serialNumber=(\S+)/.exec(subject)?.[1] ?? [];
  });
};
