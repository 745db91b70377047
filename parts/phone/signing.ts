/**
 * What a person does with a prompt: sign, cancel, react to a receipt. The first answer of any phone
 * of the number counts; the transaction decides which that is.
 */
import { Buffer } from 'node:buffer';
import type { Engine } from '../../packages/engine/src/engine.ts';
import { renewedBeforeMs } from '../../packages/pki/src/authorities.ts';
import { completeCms } from '../../packages/pki/src/cms.ts';
import type { KeyCustody } from '../../packages/pki/src/ports.ts';
import { fault } from '../../packages/protocol/src/fault.ts';
import type { DeviceAnswer, ReceiptOutcome } from '../../packages/protocol/src/outcome.ts';
import { bytesToSign } from '../../packages/protocol/src/requests.ts';
import type { Answer } from '../../src/transactions/answers.ts';
import { certificateFacts, keyOwnerOf } from './enrolment.ts';
import type { Passkeys } from './passkeys.ts';
import type { Gate, Phone, Phones } from './phones.ts';
import { isOpenFor } from './pins.ts';
import type { EndReason, PhonePrompt, PhonePrompts, PromptEnd } from './prompts.ts';
import type { SignatureRequest } from './requests.ts';

/**
 * done     It counts, or did so before.
 * gone     The prompt has ended.
 * gate     No PIN was entered since the prompt was made, or the passkey proves nothing.
 * wrong    The phone's key has not signed these bytes.
 * busy     The service did not take it in time: send it again.
 */
export type SigningResult =
  | { readonly kind: 'done' }
  | { readonly kind: 'gone'; readonly why: EndReason }
  | { readonly kind: 'gate' | 'wrong' | 'busy' };

export interface SigningOptions {
  readonly prompts: PhonePrompts;
  readonly phones: Pick<Phones, 'read' | 'change'>;
  readonly passkeys: Passkeys;
  readonly custody: Pick<KeyCustody, 'chain' | 'renew' | 'revocationOf'>;
  /** Revokes all certificates of a phone. */
  readonly revoke: (phone: Pick<Phone, 'msisdn' | 'id'>) => Promise<unknown>;
  readonly now: () => number;
  /** Brings the answer to the prompt of a transaction. */
  readonly answer: Answer;
  /** Brings the answer to an activity that shows a receipt. */
  readonly answerReceipt: Engine['answer'];
}

export type Signing = ReturnType<typeof createSigning>;

export const createSigning = (options: SigningOptions) => {
  const { prompts, phones, passkeys, custody, revoke, answer, answerReceipt, now } = options;

  /**
   * The same key gets its next certificate before the end. After a signature: a login that a phone
   * has joined expects the certificate of that moment.
   */
  const renew = async ({ msisdn, id }: Phone) => {
    const phone = (await phones.read(msisdn))?.phones.find((each) => each.id === id);
    const present = phone && (await custody.chain(phone.chain));
    if (phone === undefined || present === undefined) return;
    const next = await custody.renew(keyOwnerOf(phone), present.certificates[0]);
    if (next === undefined) return;
    const change = { chain: next.id, ...certificateFacts(next.certificates[0]) };
    // The phone was removed meanwhile, perhaps before there was this certificate.
    if (!(await phones.change(phone, () => change))) await revoke(phone);
  };

  /** An end that this phone has brought before: its answer was lost on the way. */
  const ended = ({ id }: Phone, { why, by }: PromptEnd, wanted: EndReason): SigningResult =>
    by === id && why === wanted ? { kind: 'done' } : { kind: 'gone', why: toldTo(id, { why, by }) };

  const bring = async (
    phone: Phone,
    { id, transactionId, attempt }: PhonePrompt,
    given: DeviceAnswer,
    why: 'signed' | 'cancelled',
  ): Promise<SigningResult> => {
    const result = await answer(transactionId, attempt, given);
    if (result === 'busy') return { kind: 'busy' };
    const isFirst = result === 'accepted';
    await prompts.end(phone.msisdn, id, isFirst ? { why, by: phone.id } : { why: 'elsewhere' });
    if (isFirst) return { kind: 'done' };
    const found = await prompts.find(phone.msisdn, id);
    return found?.kind === 'ended' ? ended(phone, found, why) : { kind: 'gone', why: 'elsewhere' };
  };

  /** @returns Whether the person has just proven to be there. */
  const passGate = async (
    phone: Phone,
    prompt: PhonePrompt,
    { assertion }: SignatureRequest,
  ): Promise<boolean> => {
    if (phone.gate.kind === 'pin') return isOpenFor(phone, prompt.promptedAt);
    const gate = assertion && (await passkeys.verify(phone, prompt.id, assertion));
    if (gate === undefined) return false;
    // The proof of another request may have been noted meanwhile.
    const isNext = (present: Gate): boolean =>
      present.kind === 'passkey' && gate.counter > present.counter;
    return phones.change(phone, (present) => (isNext(present.gate) ? { gate } : {}));
  };

  const openPrompt = async (
    phone: Phone,
    id: string,
    kind: PhonePrompt['kind'],
    wanted: EndReason,
  ): Promise<PhonePrompt | SigningResult> => {
    const found = await prompts.find(phone.msisdn, id);
    if (found?.kind === 'ended') return ended(phone, found, wanted);
    return found?.prompt.kind === kind ? found.prompt : { kind: 'gone', why: 'elsewhere' };
  };

  return {
    sign: async (phone: Phone, id: string, given: SignatureRequest): Promise<SigningResult> => {
      const prompt = await openPrompt(phone, id, 'sign', 'signed');
      if (!('id' in prompt)) return prompt;
      if ((await custody.revocationOf(phone.serial)) !== undefined) {
        const why = fault(422, 'Certificate is revoked');
        return bring(phone, prompt, { kind: 'fault', fault: why }, 'cancelled');
      }
      if (!(await passGate(phone, prompt, given))) return { kind: 'gate' };
      const chain = await custody.chain(phone.chain);
      if (chain === undefined) throw new Error('The certificates of a phone are missing');
      const cms = completeCms({
        content: bytesToSign(prompt.data),
        nonce: Buffer.from(prompt.nonce, 'base64'),
        signature: Buffer.from(given.signature, 'base64url'),
        certificate: chain.certificates[0],
      });
      if (cms === undefined) return { kind: 'wrong' };
      const signature = { cms: Buffer.from(cms).toString('base64'), certificates: chain.id };
      const result = await bring(phone, prompt, { kind: 'signature', ...signature }, 'signed');
      if (phone.certificateEndsAt - renewedBeforeMs <= now()) await renew(phone);
      return result;
    },

    cancel: async (phone: Phone, id: string): Promise<SigningResult> => {
      const prompt = await openPrompt(phone, id, 'sign', 'cancelled');
      if (!('id' in prompt)) return prompt;
      return bring(phone, prompt, { kind: 'fault', fault: fault(401) }, 'cancelled');
    },

    react: async (
      phone: Phone,
      id: string,
      receipt: Extract<ReceiptOutcome, 'accepted' | 'cancelled'>,
    ): Promise<SigningResult> => {
      const why = receipt === 'accepted' ? 'signed' : 'cancelled';
      const prompt = await openPrompt(phone, id, 'receipt', why);
      if (!('id' in prompt)) return prompt;
      const result = await answerReceipt(prompt.answerTo ?? '', {
        output: { kind: 'answered', receipt },
      });
      if (result === 'busy') return { kind: 'busy' };
      const isFirst = result === 'taken';
      await prompts.end(phone.msisdn, id, isFirst ? { why, by: phone.id } : { why: 'elsewhere' });
      return isFirst ? { kind: 'done' } : { kind: 'gone', why: 'elsewhere' };
    },
  };
};

/** Ends the open signature prompts of a number when none of its phones can be used any more. */
export type FailOpen = (msisdn: string) => Promise<void>;

export const createFailOpen =
  ({ prompts, phones, answer }: Pick<SigningOptions, 'prompts' | 'phones' | 'answer'>): FailOpen =>
  async (msisdn) => {
    const left = (await phones.read(msisdn))?.phones ?? [];
    if (!left.every(({ isBlocked }) => isBlocked)) return;
    const why = fault(left.length === 0 ? 404 : 402);
    const open = (await prompts.list(msisdn)).filter(({ kind }) => kind === 'sign');
    for (const { id, transactionId, attempt } of open) {
      await answer(transactionId, attempt, { kind: 'fault', fault: why });
      await prompts.end(msisdn, id, { why: 'elsewhere' });
    }
  };

/** The reason of an end as a phone is told it: an answer of another phone is `elsewhere`. */
export const toldTo = (phone: string, { why, by }: PromptEnd): EndReason =>
  by === undefined || by === phone ? why : 'elsewhere';
