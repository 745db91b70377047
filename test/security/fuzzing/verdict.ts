/**
 * What must be true of every answer of the signature interface, whatever was asked: compact
 * canonical JSON that is a 200 with one response, described completely by its schema, or a Fault
 * that agrees with the fault table. Never fault 900: nothing is broken here, so that would be a
 * bug.
 */

import { faultTable, isFaultCode } from '../../../packages/protocol/src/fault.ts';
import { faultResponseSchema } from '../../../packages/protocol/src/schemas/fault.ts';
import { profileResponseSchema } from '../../../packages/protocol/src/schemas/profile.ts';
import { receiptResponseSchema } from '../../../packages/protocol/src/schemas/receipt.ts';
import { signatureResponseSchema } from '../../../packages/protocol/src/schemas/sign.ts';
import { statusResponseSchema } from '../../../packages/protocol/src/schemas/status.ts';
import { toCanonicalJson } from '../../../packages/protocol/test/canonical-json.ts';
import { answerType } from '../../../src/http/present.ts';
import type { Echo, RawAnswer } from './fire.ts';
import type { Shot } from './shots.ts';

/** The schema of each response, and the request that it answers. */
const responses = {
  MSS_SignatureResp: { schema: signatureResponseSchema, asked: 'MSS_SignatureReq' },
  MSS_StatusResp: { schema: statusResponseSchema, asked: 'MSS_StatusReq' },
  MSS_ReceiptResp: { schema: receiptResponseSchema, asked: 'MSS_ReceiptReq' },
  MSS_ProfileResp: { schema: profileResponseSchema, asked: 'MSS_ProfileReq' },
} as const;

/**
 * With a Fault. 400 and 408 are HTTP that no route could read; 404 and 405 are no address and no
 * POST.
 */
const faultStatuses: readonly number[] = [500, 400, 404, 405, 408];

/** The test number whose fault is 900, and the end of all its spellings. */
const alwaysBroken = '92900';

const problemOfFault = (body: unknown, status: number, asked: string): string | undefined => {
  const read = faultResponseSchema.safeParse(body);
  if (!read.success || toCanonicalJson(read.data) !== toCanonicalJson(body)) return 'is no Fault';
  const { Code, Reason } = read.data.Fault;
  const code = Number(Code.SubCode.Value.slice(1));
  if (!isFaultCode(code)) return `has code ${code}, which is not in the fault table`;
  const { reason, blame } = faultTable[code];
  if (Reason !== reason || Code.Value !== blame)
    return `disagrees with the fault table about ${code}`;
  if (!faultStatuses.includes(status)) return `is a Fault with status ${status}`;
  return code === 900 && !asked.includes(alwaysBroken) ? 'is fault 900' : undefined;
};

/** @param body What was asked. @returns What is wrong, or undefined. */
export const problemOfAnswer = (
  { status, contentType, text }: RawAnswer,
  body: Buffer,
): string | undefined => {
  if (contentType !== answerType) return `has the media type ${contentType}`;
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return 'is not JSON';
  }
  if (toCanonicalJson(parsed) !== text) return 'is not canonical JSON';
  const asked = body.toString('latin1');
  const wrapper = Object.keys(Object(parsed)).join();
  if (wrapper === 'Fault') return problemOfFault(parsed, status, asked);
  if (!(wrapper in responses)) return `has the members ${wrapper}`;
  if (status !== 200) return `is a response with status ${status}`;
  const response = responses[wrapper as keyof typeof responses];
  if (!asked.includes(response.asked)) return `is a ${wrapper} to something else`;
  const read = response.schema.safeParse(parsed);
  return read.success && toCanonicalJson(read.data) === text
    ? undefined
    : 'is not what its schema describes';
};

/** More than a server is sure to have read when it answers. */
const sentInParts = ({ pieces }: Shot): boolean =>
  pieces.length > 1 || (pieces[0]?.length ?? 0) > 16_384;

/** @returns What is wrong with what came back for a shot, or undefined. */
export const problemOf = (shot: Shot, echo: Echo): string | undefined => {
  for (const answer of echo.answers) {
    const problem = problemOfAnswer(answer, shot.body);
    if (problem !== undefined)
      return `the answer ${problem}: ${answer.status} ${answer.text.slice(0, 600)}`;
  }
  switch (echo.end) {
    case 'answered':
      return undefined;
    case 'reset':
      // Whoever goes on sending after a refusal can lose it to the reset that answers what is sent
      // (RFC 9112, 9.6).
      if (sentInParts(shot) && echo.rest === '') return undefined;
      return 'the connection was reset without a complete answer';
    case 'closed':
      // Who closes its side has hung up: the server may answer, and need not.
      if (shot.hangUp && echo.rest === '') return undefined;
      return `the connection ended without a complete answer: ${JSON.stringify(echo.rest.slice(0, 600))}`;
    case 'late':
      return `no complete answer came in ${Math.round(echo.elapsedMs)} ms: ${JSON.stringify(echo.rest.slice(0, 600))}`;
    case 'refused':
      return 'nobody listens any more';
  }
};

/**
 * How long an answer may take: a caller who waits for a person waits for TimeOut; everything else
 * is answered within the server's own time limits.
 */
export const patienceMs = ({ body }: Pick<Shot, 'body'>, serverMs: number): number => {
  const [, timeout = '0'] = /"TimeOut"\s*:\s*"(\d{1,3})"/.exec(body.toString('latin1')) ?? [];
  return serverMs + Math.min(Number(timeout), 300) * 1000;
};
