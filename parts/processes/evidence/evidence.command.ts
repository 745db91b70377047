/** `paraph evidence verify`: verifies the evidence record of a process, offline. */
import { Option } from 'commander';
import { normaliseInstant } from '../../../packages/protocol/src/instant.ts';
import {
  type AddCommand,
  type CliContext,
  ok,
  type Report,
  UsageError,
} from '../../../src/command-line/context.ts';
import { parseJson, readNamed } from '../../../src/command-line/named-file.ts';
import { worksAt } from '../../../src/command-line/place.ts';
import {
  type Field,
  fieldsText,
  listFields,
  paletteFor,
} from '../../../src/command-line/screen.ts';
import {
  readTrustFile,
  type Trust,
  trustDocument,
  trustFields,
} from '../../../src/command-line/trust.ts';
import type { DefinitionAddition } from '../definition/addition.ts';
import type { Evidence } from './evidence.ts';

interface Flags {
  readonly serviceRoot: string;
  /** By name. */
  readonly gatewayRoot: Readonly<Record<string, string>>;
  readonly definition?: string;
  readonly at?: string;
}

/** The record itself, or the answer of `GET /workflows/process/{id}`, which contains it. */
const recordIn = (text: string): string => {
  if (!text.startsWith('{')) return text;
  const { output } = Object(parseJson(text, 'The file')) as { readonly output?: unknown };
  const { evidence } = Object(output) as { readonly evidence?: unknown };
  if (typeof evidence === 'string') return evidence;
  throw new UsageError('The file is JSON without output.evidence: has the process ended?');
};

/** `live=roots.pem`. @throws UsageError */
const addGateway = (text: string, before: Flags['gatewayRoot']): Flags['gatewayRoot'] => {
  const [, name, path] = /^([a-z0-9][a-z0-9-]*)=(.+)$/.exec(text) ?? [];
  if (name === undefined || path === undefined)
    throw new UsageError(
      '--gateway-root must be the name of a gateway and a file, such as live=roots.pem.',
    );
  if (Object.hasOwn(before, name)) throw new UsageError('--gateway-root names a gateway twice.');
  return { ...before, [name]: path };
};

const oldOption = (): never => {
  throw new UsageError(
    '--root is not taken any more, because it does not say whose roots they are: name those of the service with --service-root, and those of a gateway with --gateway-root <name>=<file>.',
  );
};

const readAt = (text: string): Date => {
  const instant = normaliseInstant(text);
  if (instant === undefined)
    throw new UsageError('--at must be a time such as 2026-12-24T12:00:00Z.');
  return new Date(instant);
};

const recordText = (evidence: Evidence, context: CliContext): string => {
  const { process, outcome, iss, iat, steps, signatures, refusals } = evidence;
  return fieldsText(
    [
      ['process', process.id],
      ['application', process.apId],
      ['service', iss],
      ['outcome', `${outcome}, ${new Date(iat * 1000).toISOString()}`],
      ['definition', process.definitionHash],
      ...listFields(
        'steps',
        steps.map(({ name, state }) => `${name}: ${state}`),
      ),
      ...listFields(
        'signed',
        signatures.map(
          ({ at, step, name, msisdn, serialNumber, text }) =>
            `${at}  ${step}: ${name}, ${msisdn}, ${serialNumber}: ${text}`,
        ),
      ),
      ...listFields(
        'not signed',
        refusals.map(({ step, name, msisdn, kind }) => `${step}: ${name}, ${msisdn}: ${kind}`),
      ),
    ],
    context,
  );
};

const gatewayFields = ([name, trust]: readonly [string, Trust]): readonly Field[] =>
  trustFields(trust).map(([label, value]) => [
    label === 'trust' ? `gateway ${name}` : label,
    value,
  ]);

const unverified = 'The record does not verify';

const verify = async (
  context: CliContext,
  file: string,
  flags: Flags,
  addition: DefinitionAddition | undefined,
): Promise<Report> => {
  const trust = await readTrustFile(flags.serviceRoot, '--service-root');
  const gateways = await Promise.all(
    Object.entries(flags.gatewayRoot).map(
      async ([name, path]) => [name, await readTrustFile(path, '--gateway-root')] as const,
    ),
  );
  const at = flags.at === undefined ? undefined : readAt(flags.at);
  const named = 'The file that --definition names';
  const definition = flags.definition && parseJson(await readNamed(flags.definition, named), named);
  const record = recordIn((await readNamed(file, 'The file')).trim());
  const { haveCommonRoot, createVerifyEvidence } = await import('./verify-evidence.ts');
  if (
    haveCommonRoot(
      trust.certificates,
      gateways.map(([, { certificates }]) => certificates),
    )
  )
    throw new UsageError(
      'The files that --service-root and --gateway-root name have a certificate in common.',
    );
  const result = await createVerifyEvidence(addition)(record, {
    serviceRoots: trust.certificates,
    gatewayRoots: Object.fromEntries(
      gateways.map(([name, { certificates }]) => [name, certificates]),
    ),
    definition,
    ...(at !== undefined && { at }),
  });
  const gatewayTrust = Object.fromEntries(
    gateways.map(([name, each]) => [name, trustDocument(each)]),
  );
  const rules = definition === undefined ? 'not-given' : 'checked';
  const document = {
    verified: result.ok,
    definition: rules,
    trust: trustDocument(trust),
    gatewayTrust,
  };
  if (!result.ok) {
    const { problems } = result;
    const problem = [`${unverified}:`, ...problems.map(({ message }) => `  ${message}`)].join('\n');
    return { outcome: 'unverified', document: { ...document, problems }, problem };
  }
  const { bold, green } = paletteFor(context.stdout, context);
  const head = green(bold('The record verifies'));
  const caution =
    definition === undefined
      ? 'How many signatures a step needs was not checked: name the definition with --definition.\n\n'
      : '';
  return ok(
    { ...document, evidence: result.evidence },
    `${head}\n\n${caution}${recordText(result.evidence, context)}${fieldsText([...trustFields(trust), ...gateways.flatMap(gatewayFields)], context)}`,
  );
};

/** @param addition Members of another part. */
export const createAddEvidence =
  (addition?: DefinitionAddition): AddCommand =>
  (program, context, done) => {
    const command = program
      .command('evidence')
      .description('check the evidence record of a process with several people')
      .command('verify')
      .description('verify the record and every signature in it, without a service')
      .argument('<file>', 'the record, or the JSON of the process that has ended')
      .requiredOption('--service-root <file>', 'root certificates of the service (PEM)')
      .option(
        '--gateway-root <name=file>',
        'root certificates of the other service behind a gateway, for its signatures; can be repeated',
        addGateway,
        {},
      )
      .addOption(new Option('--root <file>', 'of earlier versions').hideHelp().argParser(oldOption))
      .option('--definition <file>', 'what the process was begun with (JSON)')
      .option('--at <time>', 'when all certificates must be valid (default: at their use)')
      .action(async (file: string, flags: Flags) =>
        done(await verify(context, file, flags, addition)),
      );
    worksAt('here', command);
  };
