/**
 * What is done for processes with documents, in a process with workers: their facts and texts before
 * the first step, a revision of the PDF after each signature, and the evidence at the end.
 *
 * The person has signed the text on the phone, which names the document by its title and by the code
 * of its SHA-256. Only then, when it is known which revision comes before, the PDF is signed. Each
 * function may be cut off anywhere and runs again: what it has done is found by the transaction.
 */
import { hash, randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import type { KeyCustody } from '../../../packages/pki/src/ports.ts';
import type { Proofs } from '../../certificates/index.ts';
import type {
  Added,
  AdditionWork,
  Completion,
  InProcess,
  Members,
  Preparation,
} from '../../processes/index.ts';
import type { Documents } from '../documents.ts';
import { createQueue } from '../queue.ts';
import { shortCodeOf } from '../short-code.ts';
import { type DocumentStore, readWhole, type Stored, StoreError } from '../store/store.ts';
import {
  documentOfStep,
  documentsIn,
  fieldOf,
  namedDocuments,
  type ProcessDocument,
} from './definition.ts';
import { evidenceField } from './evidence-field.ts';
import {
  type Chain,
  type FoundChain,
  lastOf,
  type Results,
  type Revision,
  resultIdOf,
} from './results.ts';
import { findSignatory, type Level, sealOf, signPdf } from './sign.ts';

export interface SigningOptions {
  readonly documents: Pick<Documents, 'find' | 'use'>;
  readonly store: Pick<DocumentStore, 'put' | 'read'>;
  readonly results: Results;
  readonly custody: Pick<KeyCustody, 'keyOf' | 'sealKey'>;
  readonly proofs: Proofs;
  readonly level: Level;
  /** For which results are kept after the end of their processes. */
  readonly retentionMs: number;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

const dayMs = 86_400_000;
/** The compensation of a process has ten steps of a week each. */
const compensationMs = 70 * dayMs;
/** A process lasts for a year at most. */
const longestMs = 366 * dayMs + compensationMs;
const turnPauseMs = 200;
const chunkBytes = 262_144;

type Ended = Parameters<AdditionWork['finish']>[0];

/** What a signer keeps of the signature of the text (`proof` of `sign`). */
const proofSchema = z.object({
  certificates: z.string().optional(),
  upstream: z.unknown().optional(),
});

const unusable = (problem: string): Added => ({ kind: 'unusable', problem });
const sha256Of = (bytes: Uint8Array): string => hash('sha256', bytes, 'hex');

const chunksOf = async function* (bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += chunkBytes) yield bytes.subarray(at, at + chunkBytes);
};

/** Enough to recognise a number, too little to learn it from the PDF. */
const shortened = (msisdn: string): string => `${msisdn.slice(0, 3)} ... ${msisdn.slice(-2)}`;

export const createSigningWork = (options: SigningOptions): AdditionWork => {
  const { documents, store, results, custody, retentionMs, now } = options;
  const inTurn = createQueue();

  const resultOf = ({ instance, createdAt }: InProcess, { name }: { readonly name: string }) =>
    resultIdOf({ instance, createdAt, name });

  /**
   * The newest revision, or the document as it was uploaded.
   *
   * @returns Undefined when it is not what it was: its bytes, or the part of a revision that it was
   *   made from.
   */
  const readNewest = async (
    id: string,
    document: ProcessDocument,
    chain: FoundChain | undefined,
  ): Promise<Uint8Array | undefined> => {
    const last = chain && lastOf(chain);
    const [owner, stored] = last === undefined ? [document.document, document] : [id, last];
    try {
      const source = await store.read(owner, stored);
      // A folder that this process does not share, or a disk that is away.
      if (source === undefined) throw new StoreError('away');
      const bytes = await readWhole(source, stored.size);
      const isWhole = sha256Of(bytes) === stored.sha256;
      const isOriginal = sha256Of(bytes.subarray(0, document.size)) === document.sha256;
      return isWhole && isOriginal ? bytes : undefined;
    } catch (error) {
      if (error instanceof StoreError && error.trouble === 'damaged') return undefined;
      throw error;
    }
  };

  const recordOf = (
    id: string,
    apId: string,
    { title, pages }: ProcessDocument,
    { sha256, size }: Stored,
    expiresAt: number,
  ) => ({ id, apId, title, sha256, size, pages, createdAt: now(), expiresAt });

  const addedFor = (id: string, document: ProcessDocument, revision: Revision): Added => ({
    kind: 'added',
    members: {
      document: {
        name: document.name,
        how: revision.how,
        level: revision.level,
        sha256: revision.sha256,
        signed: id,
      },
    },
  });

  /** @returns Undefined when another one was faster. */
  const addRevision = async (
    id: string,
    document: ProcessDocument,
    completion: Completion,
    { apId }: InProcess,
  ): Promise<Added | undefined> => {
    const { signed, person, step, key } = completion;
    const { msspTransId: transaction } = signed;
    const chain = await results.find(id);
    const present = chain?.revisions.find((each) => each.transaction === transaction);
    if (present !== undefined) return addedFor(id, document, present);
    const bytes = await readNewest(id, document, chain);
    if (bytes === undefined)
      return unusable(`The document ${document.name} is not what it was when the process began`);
    const { certificates, upstream } = proofSchema.safeParse(signed.proof).data ?? {};
    const signatory = await findSignatory(
      custody,
      upstream === undefined ? certificates : undefined,
    );
    const at = now();
    const { how } = signatory;
    const made = await signPdf(
      bytes,
      {
        fieldName: `paraph-${transaction}`,
        at: new Date(at),
        name: how === 'signed' ? person.name : `Paraph, for ${person.name}`,
        reason:
          how === 'signed'
            ? `Signed on the phone, transaction ${transaction}`
            : `Sealed by the service, because ${person.name} has signed the text on the phone, transaction ${transaction}`,
        place: fieldOf(person.added),
        lines: [
          how === 'signed' ? person.name : `Sealed for ${person.name}`,
          new Date(at).toISOString().slice(0, 16).replace('T', ' ').concat(' UTC'),
          shortened(person.msisdn),
        ],
      },
      signatory,
      options,
    );
    if (!made.ok) return unusable(`The document ${document.name} cannot be signed: ${made.error}`);
    const stored = await store.put(id, chunksOf(made.bytes));
    const { level } = made;
    const revision = { transaction, step, key, name: person.name, how, level, at, ...stored };
    const next: Chain = {
      document: document.document,
      revisions: [...(chain?.revisions ?? []), revision],
    };
    const record = recordOf(id, apId, document, stored, at + longestMs + retentionMs);
    const before = chain === undefined ? 0 : (lastOf(chain)?.size ?? 0);
    const followed = await results.follow(record, chain, next, stored.size - before);
    if (followed === 'over') return unusable('The process has ended');
    return followed === 'done' ? addedFor(id, document, revision) : undefined;
  };

  const complete = async (completion: Completion, process: InProcess): Promise<Added> => {
    const named = documentOfStep(completion.members);
    const document = documentsIn(completion.prepared).find(({ name }) => name === named);
    if (document === undefined) return { kind: 'added', members: {} };
    const id = resultOf(process, document);
    const me = randomUUID();
    for (;;) {
      process.signal.throwIfAborted();
      while (!(await results.takeTurn(id, me)))
        await delay(turnPauseMs, undefined, { signal: process.signal });
      try {
        const added = await inTurn(() => addRevision(id, document, completion, process));
        if (added !== undefined) return added;
      } finally {
        await results.endTurn(id, me);
      }
    }
  };

  const prepare = async (
    { members, steps, until }: Preparation,
    process: InProcess,
  ): Promise<Added> => {
    const prepared: ProcessDocument[] = [];
    for (const [index, { name, document: id }] of namedDocuments(members).entries()) {
      const found = await documents.find(process.apId, id);
      const use = resultOf(process, { name });
      const isKept =
        found !== undefined && (await documents.use(id, use, until + compensationMs + retentionMs));
      if (!isKept) return unusable(`documents[${index}].document is not known`);
      const { title, pages, size, sha256 } = found;
      prepared.push({ name, document: id, title, pages, size, sha256, code: shortCodeOf(sha256) });
    }
    for (const { members: step, people } of steps) {
      const document = prepared.find(({ name }) => name === documentOfStep(step));
      const last = document?.pages ?? 0;
      if (people.some((person) => (fieldOf(person)?.page ?? 0) > last))
        return unusable(`field.page must not be after the last page, ${last}`);
    }
    return { kind: 'added', members: { documents: prepared } };
  };

  /**
   * Adds the evidence record of the process, under a seal that covers it and all signatures.
   *
   * @returns Undefined when the document is not what it was, or takes no seal: it keeps the
   *   signatures that it has, and the record stays beside it.
   */
  const embed = async (
    id: string,
    document: ProcessDocument,
    chain: FoundChain,
    evidence: string,
    process: InProcess,
  ): Promise<Stored | undefined> => {
    const bytes = await readNewest(id, document, chain);
    const sealed =
      bytes &&
      (await signPdf(
        bytes,
        {
          fieldName: evidenceField,
          at: new Date(now()),
          name: 'Paraph',
          reason: `Sealed by the service with the evidence record of process ${process.id}`,
          record: Buffer.from(evidence),
        },
        await sealOf(custody),
        options,
      ));
    return sealed?.ok ? store.put(id, chunksOf(sealed.bytes)) : undefined;
  };

  const finishOne = async (
    document: ProcessDocument,
    ended: Ended,
    process: InProcess,
  ): Promise<Members> => {
    const id = resultOf(process, document);
    const until = now() + retentionMs;
    await documents.use(document.document, id, until);
    // Whoever has confirmed before the end was waited for: what comes later does not count.
    await results.end(id);
    const chain = await results.find(id);
    const before = chain && lastOf(chain);
    if (chain === undefined || before === undefined) return { ...document };
    const last =
      chain.last ??
      (await inTurn(() => embed(id, document, chain, ended.evidence, process))) ??
      before;
    const { text: _, ...same } = chain;
    const record = recordOf(id, process.apId, document, last, until);
    const next = last === before ? same : { ...same, last };
    const followed = await results.conclude(record, chain, next, last.size - before.size);
    // Another try was faster.
    if (followed !== 'done') return finishOne(document, ended, process);
    const { sha256, size } = last;
    const signatures = chain.revisions.map(({ step, key, how, level, transaction }) => ({
      step,
      key,
      how,
      level,
      msspTransId: transaction,
    }));
    const hasEvidence = next.last !== undefined;
    return { ...document, signed: { document: id, sha256, size, hasEvidence, signatures } };
  };

  return {
    prepare,
    complete,
    finish: async (ended, process) => {
      const all = documentsIn(ended.report.added ?? {});
      return {
        documents: await Promise.all(all.map((each) => finishOne(each, ended, process))),
      };
    },
  };
};
