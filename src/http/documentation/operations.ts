/**
 * The four operations in words: what each is for and what its answers mean. The words go into the
 * OpenAPI document, and from there onto the page.
 *
 * Source: interface section 4.
 */
import type { z } from 'zod';
import type { Operation } from '../../../packages/protocol/src/parse.ts';
import type { ProtocolRules } from '../../../packages/protocol/src/rules.ts';
import {
  profileRequestSchema,
  profileResponseSchema,
} from '../../../packages/protocol/src/schemas/profile.ts';
import {
  receiptRequestSchema,
  receiptResponseSchema,
} from '../../../packages/protocol/src/schemas/receipt.ts';
import {
  signatureRequestSchema,
  signatureResponseSchema,
} from '../../../packages/protocol/src/schemas/sign.ts';
import {
  statusRequestSchema,
  statusResponseSchema,
} from '../../../packages/protocol/src/schemas/status.ts';

export interface DescribedOperation {
  readonly summary: string;
  /** Paragraphs, in Markdown's most modest form: backticks only. */
  readonly description: readonly string[];
  readonly request: z.ZodType;
  readonly response: z.ZodType;
  readonly answered: string;
}

export const describeOperations = (
  rules: ProtocolRules,
): Readonly<Record<Operation, DescribedOperation>> => ({
  sign: {
    summary: 'Ask a person to sign',
    description: [
      'The person sees `DataToBeSigned` on the phone and signs it with a PIN, or cancels.',
      'With `MessagingMode` `synch` the answer comes when the person has acted: keep the connection open for `TimeOut` seconds and a few more. With `asynch` it comes at once and names a transaction; ask for its status until it has ended.',
      'The same request sent again within its TimeOut and a minute more joins the first, also when that has ended: nobody is asked twice, and both calls get the same answer. The same means equal in everything but AP_PWD; to ask again, give another AP_TransID or Instant.',
    ],
    request: signatureRequestSchema(rules),
    response: signatureResponseSchema,
    answered: 'The signature (Status 500 or 502), or the accepted transaction (Status 100).',
  },
  status: {
    summary: 'Ask how a transaction stands',
    description: [
      'For requests in mode `asynch`. Status 504 means that the person has not acted yet: ask again in a few seconds. 500 or 502 comes with the signature. A transaction that failed is a Fault.',
      'The end of a transaction can be asked for repeatedly. Other applications’ transactions, and those that are too old, are answered as if they had never been: fault 101.',
    ],
    request: statusRequestSchema,
    response: statusResponseSchema,
    answered: 'The signature, or Status 504 until there is one.',
  },
  receipt: {
    summary: 'Show a receipt after a signature',
    description: [
      'A message for the person on the phone that signed, once for each successful signature: what came of it. The call waits until the person has reacted or the message lapses.',
      'Whatever the person does, the answer is 200 with Status 100. Send `Status` with its extension to learn what it was.',
    ],
    request: receiptRequestSchema,
    response: receiptResponseSchema,
    answered: 'The receipt was sent. With the extension: what the person did.',
  },
  profile: {
    summary: 'Ask what a person can sign with',
    description: [
      'Tells which signature profiles work for a number now and, by the words in `Params`, about the devices behind it. A person for whom no profile works is a Fault: the one that a sign request for `Any-LoA4` would end with.',
    ],
    request: profileRequestSchema,
    response: profileResponseSchema,
    answered: 'The person can sign.',
  },
});
