/**
 * Makes the evidence record of a process that has ended.
 *
 * A signed transaction is kept for days and a process may last for weeks. So a signer keeps what
 * the record needs of its transaction, its `proof`; without one the transaction is read. In either
 * case the signature is verified here, because a record that does not verify is of no use.
 */
import { Buffer } from 'node:buffer';
import { z } from 'zod';
import type { KeyCustody } from '../../../packages/pki/src/ports.ts';
import { verifySignature } from '../../../packages/pki/src/verify.ts';
import {
  type UpstreamTransaction,
  upstreamSchema,
} from '../../../packages/protocol/src/outcome.ts';
import { nonceOf } from '../../../src/transactions/ids.ts';
import { completeSignature } from '../../../src/transactions/outcomes.ts';
import type { Transactions } from '../../../src/transactions/transactions.ts';
import type { UpstreamTrust } from '../../../src/transactions/verify-outcome.ts';
import type { ProcessReport, ReportEntry } from '../charts/process-report.ts';
import { type Evidence, evidenceSchema, evidenceType, hashDefinition } from './evidence.ts';

type SignatureEntry = Evidence['signatures'][number];

export interface EndedProcess {
  readonly report: ProcessReport;
  /** The id that the application has chosen. */
  readonly id: string;
  /** The name of the workflow. */
  readonly name: string;
  /** The definition that the application sent. */
  readonly definition: unknown;
  /** Milliseconds since the epoch. */
  readonly endedAt: number;
}

/** What a signer keeps of the outcome of its transaction (`proof` of `sign`). */
const proofSchema = z.object({
  cms: z.base64(),
  certificates: z.string().optional(),
  upstream: upstreamSchema.optional(),
});

const digitsOf = (msisdn: string): string => msisdn.replace(/\D/g, '');
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
  readonly upstreamTrust?: UpstreamTrust;
}): CreateEvidence => {
  const { issuer, custody, findOwn, upstreamTrust } = options;

  const findSigned = async (
    apId: string,
    msspTransId: string,
    proof: unknown,
  ): Promise<{
    readonly cms: string | undefined;
    readonly upstream?: UpstreamTransaction | undefined;
  }> => {
    const kept = proofSchema.safeParse(proof).data;
    if (kept !== undefined) {
      const cms = await completeSignature({ kind: 'signature', ...kept }, custody);
      return { cms, upstream: kept.upstream };
    }
    const view = await findOwn(apId, msspTransId);
    if (view?.state.kind !== 'signed') return { cms: undefined };
    return { cms: view.state.signed.signature, upstream: view.state.signed.upstream };
  };

  const personIn = ({ step, key, person }: ReportEntry) => ({
    step,
    key,
    name: person.name,
    msisdn: `+${digitsOf(person.msisdn)}`,
  });

  const signatureIn = async (
    apId: string,
    entry: ReportEntry,
    place: string,
  ): Promise<SignatureEntry> => {
    const { person, at, msspTransId = '', attempt = 1, proof, revokedAt } = entry;
    const { cms, upstream } = await findSigned(apId, msspTransId, proof);
    if (cms === undefined) throw new Error(`${place}: the transaction has no signature`);
    const trust =
      upstream === undefined ? await custody.trust() : upstreamTrust?.(upstream.gateway);
    const verified = verifySignature(Buffer.from(cms, 'base64'), person.text, {
      trust: trust ?? [],
      at: new Date(at),
    });
    if (!verified.ok)
      throw new Error(`${place}: the signature does not verify: ${verified.reason}`);
    const { signer, nonce = new Uint8Array() } = verified;
    const entryWith = (serialNumber: string): SignatureEntry => ({
      ...entry.added,
      ...personIn(entry),
      text: person.text,
      at: instantOf(at),
      msspTransId,
      attempt,
      serialNumber,
      cms,
      ...(upstream !== undefined && { upstream }),
      ...(revokedAt !== undefined && { revokedAt: instantOf(revokedAt) }),
    });
    // Whose certificate it is and for which request, only the other service knows.
    if (upstream !== undefined) return entryWith(signer.serialNumber);
    const serialNumber = await custody.serialNumberOf(digitsOf(person.msisdn), at);
    if (signer.serialNumber !== serialNumber)
      throw new Error(`${place}: another person has signed`);
    if (Buffer.compare(nonce, nonceOf(msspTransId, attempt)) !== 0)
      throw new Error(`${place}: the signature is of another transaction or attempt`);
    return entryWith(serialNumber);
  };

  /**
   * Repeated for the same process it gives the same content under another signature.
   *
   * @returns A compact JWS.
   * @throws When a signature is not there or does not verify; names the entry, never its values.
   */
  return async ({ report, id, name, definition, endedAt }) => {
    const { apId, outcome, steps, refusals, added } = report;
    const signatures: SignatureEntry[] = [];
    for (const [index, entry] of report.signatures.entries())
      signatures.push(await signatureIn(apId, entry, `signatures[${index}]`));
    const evidence: Evidence = evidenceSchema.parse({
      ...added,
      iss: issuer,
      iat: Math.floor(endedAt / 1000),
      process: { id, name, apId, definitionHash: hashDefinition(definition) },
      outcome,
      steps,
      signatures,
      refusals: refusals.map((entry) => ({
        ...personIn(entry),
        kind: entry.kind,
        at: instantOf(entry.at),
        code: entry.code,
        reason: entry.reason,
      })),
    });
    const { privateKey, certificates } = await custody.evidenceKey();
    const x5c = certificates.map((der) => Buffer.from(der).toString('base64'));
    const header = { alg: 'ES256', typ: evidenceType, x5c };
    const signed = [header, evidence].map((part) =>
      Buffer.from(JSON.stringify(part)).toString('base64url'),
    );
    const signature = await privateKey.sign(Buffer.from(signed.join('.')), 'ES256');
    return [...signed, Buffer.from(signature).toString('base64url')].join('.');
  };
};
