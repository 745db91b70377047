/** Converts the answers of a gateway about receipts and profiles, and its faults. */
import type { ServiceFault } from '../../packages/client/src/reply.ts';
import {
  type Checked,
  type Fault,
  fault,
  isFaultCode,
  ok,
  statusExpiredDetail,
} from '../../packages/protocol/src/fault.ts';
import type { ProfileParam } from '../../packages/protocol/src/requests.ts';
import { profilesByUri } from '../../packages/protocol/src/uris.ts';
import type { UpstreamProfile } from '../../src/registry/other-services.ts';
import type { ReceiptPrompt, ReceiptResult } from '../../src/sscd/device.ts';
import type { Gateway } from './gateways.ts';

const maxDetail = 500;

/** Makes one line of a text, because it becomes a line of the job and of the log. */
const brief = (words: string): string =>
  words.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ').slice(0, maxDetail);

/** The fault of this service with the code and detail of the other service's fault. */
export const faultOf = ({ code, reason, detail }: ServiceFault): Fault => {
  // In both services a status has other words for it than the synchronous answer.
  if (code === 208 && detail === statusExpiredDetail) return fault(208);
  const words = brief(detail);
  return isFaultCode(code) ? fault(code, words) : fault(900, `_${code} ${brief(reason)}: ${words}`);
};

/** Shows a receipt. The other service decides how long it stays on the phone. */
export const showReceipt = async (
  gateway: Gateway,
  { transactionId, msisdn, upstream, message, language, deadline }: ReceiptPrompt,
): Promise<ReceiptResult> => {
  // It was signed before the number was behind this gateway.
  if (upstream?.gateway !== gateway.settings.name)
    return { kind: 'answered', receipt: 'unanswered' };
  const { msspTransId } = upstream;
  const name = { apTransId: `${transactionId}-receipt`, instant: new Date(deadline) };
  const receipt = { msspTransId, msisdn: `+${msisdn}`, text: message, language };
  const reply = await gateway.calls(new AbortController().signal).receipt(receipt, name);
  switch (reply.kind) {
    case 'answered':
      return { kind: 'answered', receipt: reply.value === 'unknown' ? 'unanswered' : reply.value };
    case 'fault':
      return reply.retryLater
        ? { kind: 'unreachable', cause: 'it is busy and asks to try again later' }
        : { kind: 'refused', fault: faultOf(reply.fault) };
    case 'unreachable':
      return { kind: 'unreachable', cause: reply.cause };
    case 'aborted':
      return { kind: 'unreachable', cause: 'the call was given up' };
  }
};

/** @returns Undefined when the gateway gives no usable answer. */
export const askProfile = async (
  gateway: Gateway,
  msisdn: string,
  params: ReadonlySet<ProfileParam>,
): Promise<Checked<UpstreamProfile> | undefined> => {
  const reply = await gateway
    .asks(new AbortController().signal)
    .rawProfile(`+${msisdn}`, [...params]);
  if (reply.kind === 'fault') return { ok: false, fault: faultOf(reply.fault) };
  if (reply.kind !== 'answered') return undefined;
  const known = profilesByUri([gateway.settings.authority]);
  const { profiles, extension } = reply.value;
  return ok({ profiles: profiles.flatMap((uri) => known.get(uri)?.name ?? []), extension });
};
