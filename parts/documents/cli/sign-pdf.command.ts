/**
 * `paraph sign-pdf`: uploads a PDF, has people sign it with their phones, and writes the PDF that
 * they have signed. It is an ordinary process with a document.
 */
import { constants, openAsBlob } from 'node:fs';
import { access, writeFile } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { e164 } from '../../../packages/protocol/src/schemas/common.ts';
import {
  addConnectionOptions,
  type ConnectionFlags,
  connect,
} from '../../../src/command-line/connection.ts';
import {
  type AddCommand,
  type CliContext,
  CommandEnd,
  interrupted,
  type Report,
  UsageError,
} from '../../../src/command-line/context.ts';
import {
  type Field,
  fieldsText,
  listFields,
  whileShowing,
} from '../../../src/command-line/screen.ts';
import { parseCount } from '../../../src/command-line/transactions-filter.ts';
import { obtainTrust, trustDocument, trustFields } from '../../../src/command-line/trust.ts';
import { createApplicationApi } from './application-api.ts';
import { judge } from './report.ts';

interface Flags extends ConnectionFlags {
  readonly out: string;
  readonly timeout: number;
  readonly title?: string;
  readonly text?: string;
  readonly lang?: string;
  readonly inOrder?: true;
  readonly trust?: string;
  readonly evidence?: string;
}

const askEveryMs = 500;
/** For what the service does after the deadline of the process. */
const graceMs = 30_000;

const parseSeconds = parseCount('--timeout', 1, 604_800, 'of seconds ');

const documentSchema = z.object({ id: z.string(), code: z.string(), pages: z.number() });

const signerSchema = z.object({
  name: z.string(),
  state: z.string(),
  reason: z.string().optional(),
  code: z.number().optional(),
});
const viewSchema = z.object({
  id: z.string(),
  status: z.string(),
  reason: z.string().optional(),
  context: z
    .object({
      steps: z.array(z.object({ signers: z.array(signerSchema) })),
      failure: z.object({ reason: z.string(), text: z.string().optional() }).optional(),
    })
    .optional(),
  output: z
    .object({
      evidence: z.string().optional(),
      documents: z
        .array(
          z.object({
            signed: z.object({ document: z.string(), sha256: z.string() }).optional(),
          }),
        )
        .optional(),
    })
    .optional(),
});
type View = z.infer<typeof viewSchema>;

/** `+41700092501`, or `Anna Muster=+41700092501`. */
const personIn = (text: string) => {
  const at = text.lastIndexOf('=');
  const msisdn = text.slice(at + 1);
  if (!e164.test(msisdn))
    throw new UsageError(
      'People are given as numbers such as +41700092501, or with a name: "Anna Muster=+41700092501".',
    );
  return { name: at > 0 ? text.slice(0, at).trim() : msisdn, msisdn };
};

const checkWritable = async (file: string): Promise<void> => {
  await access(dirname(file), constants.W_OK).catch(() => {
    throw new UsageError(
      'The directory of the file that --out or --evidence names does not exist or is not writable.',
    );
  });
};

const signersIn = ({ context }: View) => (context?.steps ?? []).flatMap(({ signers }) => signers);

const stateText = ({ name, state, reason, code }: z.infer<typeof signerSchema>): string =>
  [`${name}: ${state}`, code === undefined ? '' : ` (${code})`, reason ? `: ${reason}` : ''].join(
    '',
  );

const signPdf = async (
  context: CliContext,
  file: string,
  numbers: readonly string[],
  flags: Flags,
): Promise<Report> => {
  const people = numbers.map(personIn);
  for (const each of [flags.out, flags.evidence]) if (each !== undefined) await checkWritable(each);
  const blob = await openAsBlob(file, { type: 'application/pdf' }).catch(() => {
    throw new UsageError('The file cannot be read.');
  });
  const connection = connect(context, flags);
  const trust = await obtainTrust(connection, flags.trust, 'Interrupted; nothing was sent.');
  const { ask } = createApplicationApi(context, connection);
  const title = flags.title ?? basename(file).replace(/\.pdf$/i, '');

  return whileShowing(context, async (show) => {
    show(`uploading ${basename(file)}`);
    const uploaded = await ask(
      'POST',
      `/documents?${new URLSearchParams({ title })}`,
      'the upload was given up',
      { type: 'application/pdf', body: blob },
    );
    const document = documentSchema.parse(await uploaded.json());
    const steps = flags.inOrder
      ? people.map((person, index) => ({ name: String(index + 1), signers: [person] }))
      : [{ name: 'signatures', signers: people }];
    const input = {
      title: title.slice(0, 100),
      ...(flags.text !== undefined && { text: flags.text }),
      ...(flags.lang !== undefined && { language: flags.lang }),
      deadline: `PT${flags.timeout}S`,
      documents: [{ document: document.id }],
      steps,
    };
    const started = await ask('POST', '/workflows/process', 'nobody was asked', {
      type: 'application/json',
      body: JSON.stringify({ input }),
    });
    const { id } = viewSchema.parse(await started.json());
    const goesOn = `the process ${id} goes on until its deadline`;

    const began = context.now();
    const until = began + flags.timeout * 1000 + graceMs;
    let view: View;
    for (;;) {
      const answer = await ask('GET', `/workflows/process/${encodeURIComponent(id)}`, goesOn);
      view = viewSchema.parse(await answer.json());
      const signers = signersIn(view);
      const done = signers.filter(({ state }) => state === 'signed').length;
      const seconds = Math.floor((context.now() - began) / 1000);
      show(
        `${done} of ${people.length} have signed, code ${document.code} (${seconds} s of ${flags.timeout} s)`,
      );
      if (view.status !== 'open') break;
      if (context.now() > until)
        throw new CommandEnd({
          outcome: 'outstanding',
          document: { process: id },
          problem: `The process ${id} is still open.`,
        });
      await delay(askEveryMs, undefined, { signal: context.signal }).catch(() => {
        throw interrupted(goesOn);
      });
    }

    const common = {
      process: id,
      document: document.id,
      code: document.code,
      pages: document.pages,
    };
    const people_: readonly Field[] = listFields('people', signersIn(view).map(stateText));
    if (flags.evidence !== undefined && view.output?.evidence !== undefined)
      await writeFile(flags.evidence, `${view.output.evidence}\n`);
    if (view.status !== 'completed') {
      const { reason, text } = view.context?.failure ?? {};
      return {
        outcome: 'fault',
        document: { ...common, status: view.status, reason, people: signersIn(view) },
        text: fieldsText([['process', id], ...people_], context),
        problem: `The process has ${view.status}: ${[reason ?? view.reason, text].filter(Boolean).join(': ')}.`,
      };
    }
    const signed = view.output?.documents?.[0]?.signed;
    if (signed === undefined)
      throw new CommandEnd({
        outcome: 'unexpected',
        document: common,
        problem: 'The process has completed, and its document is not signed.',
      });
    show('downloading the signed document');
    const content = await ask('GET', `/documents/${signed.document}/content`, goesOn);
    const bytes = new Uint8Array(await content.arrayBuffer());
    await writeFile(flags.out, bytes);
    const judged = await judge(context, bytes, trust.certificates, new Date(context.now()));
    return {
      ...judged.report,
      document: {
        ...common,
        signed: signed.document,
        sha256: signed.sha256,
        out: flags.out,
        ...judged.document,
        trust: trustDocument(trust),
      },
      ...(judged.report.outcome === 'ok' && {
        text: `${judged.head}\n\n${fieldsText(
          [
            ['file', flags.out],
            ['process', id],
            ['document', `${title}, ${document.pages} pages, code ${document.code}`],
            ...judged.fields,
            ...trustFields(trust),
          ],
          context,
        )}`,
      }),
    };
  });
};

export const addSignPdf: AddCommand = (program, context, done) => {
  const command = program
    .command('sign-pdf')
    .description('have people sign a PDF with their phones, and write the signed PDF')
    .argument('<file>', 'the PDF')
    .argument('<msisdn...>', 'mobile numbers, such as +41700092501 or "Anna Muster=+41700092501"')
    .requiredOption('--out <file>', 'write the signed PDF to this file')
    .option('--title <title>', 'as the phones show it (default: the name of the file)')
    .option('--text <text>', 'what is signed, before the title, the pages and the code')
    .option('--in-order', 'ask one after the other (default: all at the same time)')
    .option('--timeout <seconds>', 'time that all have together', parseSeconds, 300)
    .option('--lang <code>', 'language of the screens: en, de, fr, it')
    .option('--evidence <file>', 'write the evidence record of the process to this file')
    .option(
      '--trust <file>',
      "trust the root certificates in this PEM file, not the service's own",
    );
  addConnectionOptions(command).action(
    async (file: string, numbers: readonly string[], flags: Flags) =>
      done(await signPdf(context, file, numbers, flags)),
  );
};
