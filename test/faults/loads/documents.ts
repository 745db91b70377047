/**
 * Processes with documents: PDFs are uploaded, robots sign them at the same time and one after the
 * other, and each signed PDF is downloaded whenever the service names one. What was uploaded is
 * there; what is downloaded is whole; each signature is in it once.
 */
import { hash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { usableRoots } from '../../../packages/pki/src/roots.ts';
import { verifyPdf } from '../../../parts/documents/pdf/index.ts';
import { readEvidence } from '../../../parts/documents/signing/embedded-evidence.ts';
import { makePdf } from '../../../parts/documents/test/stage.ts';
import type { Json } from '../../support/product.ts';
import { type Check, type Evidence, hindrances, type Violation } from '../evidence.ts';
import { excused, marginMs } from '../excuses.ts';
import { ask, type Heard, workflowCalls } from '../http.ts';
import { documentsId, numberAt } from '../people.ts';
import type { Random } from '../random.ts';
import { beginOften, type Scene } from './scene.ts';

/** What a download was. */
export interface Download {
  readonly from: number;
  readonly to: number;
  /** 0 when there was no answer, or a part of one. */
  readonly status: number;
  /** Of what came. */
  readonly sha256?: string;
  /** Transactions whose signatures are in it. */
  readonly transactions?: readonly string[];
  readonly hasEvidence?: boolean;
  /** Why it does not verify. */
  readonly problems?: readonly string[];
}

export interface DocumentRun {
  readonly id: string;
  /** Of the PDF. */
  readonly sha256: string;
  readonly signers: number;
  /** Undefined while no upload was acknowledged. */
  document?: string;
  acknowledgedAt?: number;
  readonly looks: Heard[];
  readonly downloads: Download[];
  /** At the end, of the document as it was uploaded. */
  original?: Download;
}

const everyMs = 2500;
const startMs = 20_000;
const deadlineMs = 40_000;
const followMs = 70_000;
const lookEveryMs = 600;
const withinMs = 10_000;

const call = workflowCalls(documentsId, 'process');
const authorization = `Basic ${btoa(`${encodeURIComponent(documentsId)}:`)}`;

const definitionFor = (
  { id, document, signers }: DocumentRun,
  random: Random,
  index: number,
): object => {
  const people = Array.from({ length: signers }, (_, place) => ({
    name: `${id}-${place}`,
    msisdn: numberAt('drafter', index * 4 + place),
  }));
  const together = random.chance(0.5);
  return {
    title: id,
    deadline: `PT${deadlineMs / 1000}S`,
    documents: [{ document }],
    steps: together
      ? [{ name: 'all', signers: people, askAgain: { times: 5, every: 'PT2S' } }]
      : people.map((person, step) => ({
          name: `s${step}`,
          signers: [person],
          askAgain: { times: 5, every: 'PT2S' },
        })),
  };
};

const download = async (
  url: string,
  id: string,
  roots: readonly Uint8Array[] | undefined,
): Promise<Download> => {
  const from = Date.now();
  try {
    const response = await fetch(`${url}/documents/${id}/content`, {
      headers: { authorization },
      signal: AbortSignal.timeout(withinMs),
    });
    const bytes = new Uint8Array(await response.arrayBuffer());
    const heard = { from, to: Date.now(), status: response.status };
    if (response.status !== 200) return heard;
    const sha256 = hash('sha256', bytes, 'hex');
    if (roots === undefined) return { ...heard, sha256 };
    const report = await verifyPdf(bytes, { roots });
    const evidence = await readEvidence(bytes, roots);
    return {
      ...heard,
      sha256,
      transactions: report.signatures.flatMap(({ field }) =>
        field.startsWith('paraph-H') ? [field.slice('paraph-'.length)] : [],
      ),
      hasEvidence: evidence !== undefined,
      problems: [
        ...report.reasons,
        ...report.signatures.flatMap(({ reasons, changes }) => [...reasons, ...changes]),
        ...(evidence?.problems ?? []),
      ],
    };
  } catch {
    return { from, to: Date.now(), status: 0 };
  }
};

const rootsAt = async (url: string): Promise<readonly Uint8Array[] | undefined> =>
  usableRoots(String((await ask(`${url}/pki/root.pem`)).body ?? ''));

const signersIn = (look: Heard | undefined): readonly Json[] =>
  (look?.body?.context?.steps ?? []).flatMap((step: Json) => step.signers);

/** The id of the signed document; undefined while there is none. */
const signedIn = (look: Heard | undefined): string | undefined =>
  look?.body?.output?.documents?.[0]?.signed?.document ??
  signersIn(look).find(({ document }) => document !== undefined)?.document.signed;

export const runDocuments = (scene: Scene): Promise<readonly DocumentRun[]> =>
  beginOften(scene, everyMs, async (index, random) => {
    const id = `d-${index + 1}`;
    const url = (): string => random.pick(scene.urls);
    const pdf = makePdf(`Document ${id}`, random.pick([0, 20_000, 400_000]));
    const run: DocumentRun = {
      id,
      sha256: hash('sha256', pdf, 'hex'),
      signers: random.between(1, 3),
      looks: [],
      downloads: [],
    };
    for (const until = Date.now() + startMs; run.document === undefined; await delay(300)) {
      const uploaded = await ask(`${url()}/documents?title=${id}`, {
        method: 'POST',
        headers: { authorization, 'content-type': 'application/pdf' },
        body: pdf,
      });
      if (uploaded.status === 201) run.document = uploaded.body.id;
      else if (Date.now() > until) return run;
    }
    const input = definitionFor(run, random, index);
    for (const until = Date.now() + startMs; run.acknowledgedAt === undefined; await delay(300)) {
      const { status, to } = await call(url(), 'POST', '', { id, input });
      if (status === 200 || status === 201) run.acknowledgedAt = to;
      else if (Date.now() > until) return run;
    }
    let roots: readonly Uint8Array[] | undefined;
    for (const until = Date.now() + followMs; Date.now() < until; await delay(lookEveryMs)) {
      const seen = await call(url(), 'GET', `/${id}`);
      run.looks.push(seen);
      roots ??= await rootsAt(url());
      const signed = signedIn(seen);
      if (signed !== undefined) run.downloads.push(await download(url(), signed, roots));
      if (seen.status === 200 && seen.body.status !== 'open') break;
    }
    return run;
  });

export const lookAtDocuments = async (runs: readonly DocumentRun[], url: string): Promise<void> => {
  const roots = await rootsAt(url);
  for (const run of runs) {
    if (run.document !== undefined) run.original = await download(url, run.document, undefined);
    if (run.acknowledgedAt === undefined) continue;
    const final = await call(url, 'GET', `/${run.id}`);
    run.looks.push(final);
    const signed = signedIn(final);
    if (signed !== undefined) run.downloads.push(await download(url, signed, roots));
  }
};

type Rule = (run: DocumentRun, evidence: Evidence) => Iterable<Omit<Violation, 'id'>>;

const uploadsStay: Rule = function* ({ document, original, sha256 }) {
  if (document === undefined) return;
  if (original?.status !== 200 || original.sha256 !== sha256)
    yield {
      rule: 'an uploaded document is never lost',
      says: `it is answered with ${original?.status}, ${original?.sha256 === sha256 ? 'whole' : 'and is another one'}`,
    };
};

const wholeDownloads: Rule = function* ({ downloads }, evidence) {
  const rule = 'a signed document is whole whenever it is served';
  for (const { from, to, status, problems = [] } of downloads) {
    if (problems.length > 0) yield { rule, says: problems.join('; ') };
    const isHindered = hindrances(evidence).some(
      (fault) => fault.from < to && fault.to + marginMs > from,
    );
    const isTrouble = status === 0 || status >= 500 || status === 429;
    if (status !== 200 && !(isTrouble && isHindered))
      yield { rule, says: `it was answered with ${status}` };
  }
};

const eachOnce: Rule = function* ({ looks, downloads, signers, acknowledgedAt }) {
  const rule = 'each signature is in the document once';
  const final = looks.at(-1);
  if (acknowledgedAt === undefined || final?.status !== 200) return;
  const all = signersIn(final);
  const last = downloads.at(-1)?.transactions ?? [];
  const wanted = all.flatMap(({ document, msspTransId }) =>
    document === undefined ? [] : [String(msspTransId)],
  );
  if (new Set(last).size !== last.length) yield { rule, says: 'one is there twice' };
  for (const each of wanted) if (!last.includes(each)) yield { rule, says: `${each} is not in it` };
  const known = all.map(({ msspTransId }) => msspTransId);
  for (const each of last)
    if (!known.includes(each)) yield { rule, says: `${each} is of no signer` };
  if (final.body.status !== 'completed') return;
  if (wanted.length !== signers)
    yield {
      rule,
      says: `${wanted.length} of ${signers} people have signed it, and it is completed`,
    };
  if (downloads.at(-1)?.hasEvidence !== true)
    yield { rule: 'the end has its evidence', says: 'the signed document has none' };
};

const endsWell: Rule = function* ({ looks, acknowledgedAt }, evidence) {
  if (acknowledgedAt === undefined) return;
  const final = looks.at(-1);
  if (final?.status !== 200 || looks.some(({ status }) => status === 404)) {
    yield {
      rule: 'an acknowledged process is never lost',
      says: `it is answered with ${final?.status}`,
    };
    return;
  }
  const { status, endedAt, createdAt, context } = final.body;
  const due = excused(hindrances(evidence), Date.parse(createdAt) + deadlineMs);
  if (status === 'open')
    yield { rule: 'every process ends', says: 'still open when everything was due' };
  else if (Date.parse(endedAt) - due > marginMs)
    yield { rule: 'every process ends', says: `it ended ${Date.parse(endedAt) - due} ms late` };
  if (context?.failure?.reason === 'UNUSABLE')
    yield { rule: 'no document is lost on its way', says: String(context.failure.text) };
};

const rules: readonly Rule[] = [uploadsStay, wholeDownloads, eachOnce, endsWell];

const everyRun: Check = function* (evidence) {
  for (const run of evidence.loads.documents)
    for (const rule of rules)
      for (const found of rule(run, evidence)) yield { ...found, id: run.id };
};

export const documentChecks: readonly Check[] = [everyRun];
