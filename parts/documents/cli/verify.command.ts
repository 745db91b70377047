/** `paraph verify`: verifies the signatures of a PDF, offline. */
import { readFile } from 'node:fs/promises';
import { normaliseInstant } from '../../../packages/protocol/src/instant.ts';
import {
  type AddCommand,
  type CliContext,
  ok,
  type Report,
  UsageError,
} from '../../../src/command-line/context.ts';
import { worksAt } from '../../../src/command-line/place.ts';
import { fieldsText } from '../../../src/command-line/screen.ts';
import { readTrustFile, trustDocument, trustFields } from '../../../src/command-line/trust.ts';
import { judge } from './report.ts';

interface Flags {
  readonly trust: string;
  readonly at?: string;
}

const readAt = (text: string): Date => {
  const instant = normaliseInstant(text);
  if (instant === undefined)
    throw new UsageError('--at must be a time such as 2026-12-24T12:00:00Z.');
  return new Date(instant);
};

const verify = async (context: CliContext, file: string, flags: Flags): Promise<Report> => {
  const at = flags.at === undefined ? new Date(context.now()) : readAt(flags.at);
  const trust = await readTrustFile(flags.trust);
  const bytes = await readFile(file).catch(() => {
    throw new UsageError('The file cannot be read.');
  });
  const judged = await judge(context, bytes, trust.certificates, at);
  const document = { ...judged.document, trust: trustDocument(trust) };
  if (judged.report.outcome !== 'ok') return { ...judged.report, document };
  return ok(
    document,
    `${judged.head}\n\n${fieldsText([...judged.fields, ...trustFields(trust)], context)}`,
  );
};

export const addVerify: AddCommand = (program, context, done) => {
  const command = program
    .command('verify')
    .description('verify the signatures of a PDF, without a service')
    .argument('<file>', 'the PDF')
    .requiredOption('--trust <file>', 'root certificates that are trusted (PEM)')
    .option('--at <time>', 'when certificates without a time stamp must be valid (default: now)')
    .action(async (file: string, flags: Flags) => done(await verify(context, file, flags)));
  worksAt('here', command);
};
