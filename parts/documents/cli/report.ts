/** What commands say of the signatures in a PDF. */
import type { CliContext, Report } from '../../../src/command-line/context.ts';
import { type Field, listFields, paletteFor } from '../../../src/command-line/screen.ts';
import { type PdfReport, type PdfSignatureReport, verifyPdf } from '../pdf/index.ts';
import { readEvidence } from '../signing/embedded-evidence.ts';

const nameOf = ({ signer }: PdfSignatureReport): string =>
  signer?.serialNumber ?? signer?.name ?? 'unknown';

const timeOf = ({ timeStamp, claimedAt }: PdfSignatureReport): string =>
  timeStamp !== undefined
    ? timeStamp.toISOString()
    : claimedAt === undefined
      ? 'no time'
      : `${claimedAt.toISOString()} (as the signer says)`;

const lineOf = (signature: PdfSignatureReport): string => {
  const { kind, level, reason } = signature;
  const what = kind === 'time-stamp' ? 'time stamp' : (level ?? 'not PAdES');
  const words = reason === undefined ? '' : `: ${reason}`;
  return `${timeOf(signature)}  ${what}  ${nameOf(signature)}${words}`;
};

const problemsIn = ({ reasons, signatures }: PdfReport): readonly string[] => [
  ...reasons,
  ...(signatures.every(({ kind }) => kind === 'time-stamp') && reasons.length === 0
    ? ['The file has no signature.']
    : []),
  ...signatures.flatMap((each) =>
    [...each.reasons, ...each.changes].map((reason) => `${each.field}: ${reason}`),
  ),
];

const evidenceFields = (
  evidence: NonNullable<Awaited<ReturnType<typeof readEvidence>>>['evidence'],
): readonly Field[] =>
  evidence === undefined
    ? []
    : listFields('evidence', [
        `process ${evidence.process.id} of ${evidence.process.apId}: ${evidence.outcome}`,
        ...evidence.signatures.map(
          ({ at, name, msisdn, text }) =>
            `${at}  ${name}, ${msisdn}: ${text.replaceAll('\n', ' / ')}`,
        ),
      ]);

/** Of a signature, for programs. */
const documentOf = ({ certificate, claimedAt, timeStamp, ...others }: PdfSignatureReport) => ({
  ...others,
  ...(claimedAt !== undefined && { claimedAt: claimedAt.toISOString() }),
  ...(timeStamp !== undefined && { timeStamp: timeStamp.toISOString() }),
  ...(certificate !== undefined && { certificate: Buffer.from(certificate).toString('base64') }),
});

export interface Judged {
  readonly report: Pick<Report, 'outcome' | 'problem'>;
  readonly head: string;
  readonly fields: readonly Field[];
  readonly document: object;
}

/** @param roots Trusted, DER. */
export const judge = async (
  context: CliContext,
  bytes: Uint8Array,
  roots: readonly Uint8Array[],
  at: Date,
): Promise<Judged> => {
  const report = await verifyPdf(bytes, { roots, at });
  const embedded = await readEvidence(bytes, roots);
  const { bold, green } = paletteFor(context.stdout, context);
  const wrong = embedded?.problems ?? [];
  const problems = [...problemsIn(report), ...wrong.map((each) => `Evidence: ${each}`)];
  const isGood = report.ok && problems.length === 0;
  const count = report.signatures.length;
  return {
    report: isGood
      ? { outcome: 'ok' }
      : {
          outcome: 'unverified',
          problem: [
            'The PDF does not verify:',
            ...problems.map((each) => `  ${each.replaceAll(/\s+/g, ' ')}`),
          ].join('\n'),
        },
    head: green(bold(count === 1 ? 'The signature verifies' : `All ${count} signatures verify`)),
    fields: [
      ...listFields('signed', report.signatures.map(lineOf)),
      ...evidenceFields(embedded?.evidence),
    ],
    document: {
      verified: isGood,
      signatures: report.signatures.map(documentOf),
      ...(embedded !== undefined && { evidence: embedded.evidence ?? null }),
      ...(!isGood && { problems }),
    },
  };
};
