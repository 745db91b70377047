/**
 * Makes the evidence record of a process that has ended.
 *
 * A signed transaction is kept for days and a process may last for weeks. So an entry may bring its
 * signature along, as the signer's step has kept it; without one the transaction is read. In either
 * case the signature is verified here, because a record that does not verify is of no use.
 */
import { Buffer } from 'node:buffer';
import { CompactSign } from 'jose';
import type { KeyCustody } from '../pki/ports.ts';
import { verifySignature } from '../pki/verify.ts';
import { nonceOf } from '../transactions/ids.ts';
import { completeSignature } from '../transactions/outcomes.ts';
import type { Transactions } from '../transactions/transactions.ts';
import { type Evidence, evidenceSchema, evidenceType, hashDefinition } from './evidence.ts';

type SignatureEntry = Evidence['signatures'][number];
type RefusalEntry = Evidence['refusals'][number];

export interface EndedProcess {
  readonly process: { readonly id: string; readonly name: string; readonly apId: string };
  /** As the application sent it. */
  readonly definition: unknown;
  readonly outcome: Evidence['outcome'];
  /** Milliseconds since the epoch, as all times here. */
  readonly endedAt: number;
  readonly steps: Evidence['steps'];
  readonly signatures: readonly (Omit<SignatureEntry, 'at' | 'serialNumber' | 'cms'> & {
    readonly at: number;
    /** The outcome of the transaction. */
    readonly signature?: { readonly cms: string; readonly certificates?: string | undefined } | undefined;
  })[];
  readonly refusals: readonly (Omit<RefusalEntry, 'at'> & { readonly at?: number | undefined })[];
}

const digitsOf = (msisdn: string): string => msisdn.replace(/^\+/, '');
const instantOf = (at: number): string => new Date(at).toISOString();

export type CreateEvidence = (ended: EndedProcess) => Promise<string>;

/**
 * @param options.issuer  Base URL of the service.
 * @param options.findOwn Of `createTransactions`.
 */
export const createEvidenceMaker = (options: {
  readonly issuer: string;
  readonly custody: Pick<KeyCustody, 'evidenceKey' | 'chain' | 'trust' | 'serialNumberOf'>;
  readonly findOwn: Transactions['findOwn'];
}): CreateEvidence => {
  const { issuer, custody, findOwn } = options;

  const findCms = async (apId: string, entry: EndedProcess['signatures'][number]) => {
    const { msspTransId, signature } = entry;
    if (signature !== undefined) return completeSignature({ kind: 'signature', ...signature }, custody);
    const view = await findOwn(apId, msspTransId);
    return view?.state.kind === 'signed' ? view.state.signed.signature : undefined;
  };

  const toEntry = async (
    apId: string,
    given: EndedProcess['signatures'][number],
    place: string,
  ): Promise<SignatureEntry> => {
    const { signature: _, at, ...entry } = given;
    const cms = await findCms(apId, given);
    if (cms === undefined) throw new Error(`${place}: the transaction has no signature`);
    const verified = verifySignature(Buffer.from(cms, 'base64'), entry.text, {
      trust: await custody.trust(),
      at: new Date(at),
    });
    if (!verified.ok) throw new Error(`${place}: the signature does not verify: ${verified.reason}`);
    const { signer, nonce = new Uint8Array() } = verified;
    const serialNumber = await custody.serialNumberOf(digitsOf(entry.msisdn));
    if (signer.serialNumber !== serialNumber) throw new Error(`${place}: another person has signed`);
    if (Buffer.compare(nonce, nonceOf(entry.msspTransId, entry.attempt)) !== 0)
      throw new Error(`${place}: the signature is of another transaction or attempt`);
    return { ...entry, at: instantOf(at), serialNumber, cms };
  };

  /**
   * Repeated for the same process it gives the same content under another signature.
   *
   * @returns A compact JWS.
   * @throws When a signature is not there or does not verify; names the entry, never its values.
   */
  return async (ended) => {
    const { process, definition, outcome, endedAt, steps, refusals } = ended;
    const signatures: SignatureEntry[] = [];
    for (const [index, given] of ended.signatures.entries())
      signatures.push(await toEntry(process.apId, given, `signatures[${index}]`));
    const evidence = evidenceSchema.parse({
      iss: issuer,
      iat: Math.floor(endedAt / 1000),
      process: { ...process, definitionHash: hashDefinition(definition) },
      ...{ outcome, steps, signatures },
      refusals: refusals.map(({ at, ...refusal }) => ({
        ...refusal,
        ...(at !== undefined && { at: instantOf(at) }),
      })),
    });
    const { privateKey, certificates } = await custody.evidenceKey();
    const x5c = certificates.map((der) => Buffer.from(der).toString('base64'));
    return new CompactSign(Buffer.from(JSON.stringify(evidence)))
      .setProtectedHeader({ alg: 'ES256', typ: evidenceType, x5c })
      .sign(privateKey);
  };
};
