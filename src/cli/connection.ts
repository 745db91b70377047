/**
 * The options that all commands share which talk to a running service, and the client that comes of them.
 *
 * The application's password comes from the environment: an argument can be read by every user of the machine (`ps`)
 * and stays in the shell's history.
 */
import type { Command } from 'commander';
import { type Calls, createCalls } from '../client/calls.ts';
import type { Reply } from '../client/reply.ts';
import { type CliContext, Ended, type Report, UsageProblem, variable } from './context.ts';

export interface ConnectionFlags {
  readonly url?: string;
  readonly apId?: string;
  readonly apPasswordEnv?: string;
}

export interface Connection {
  readonly client: Calls;
  /** Where the service is, without anything secret. */
  readonly url: string;
  /** The command that shows how a transaction ends, as the same caller at the same service. */
  resume(msspTransId: string): string;
}

const defaultUrl = 'http://127.0.0.1:8080';
/** A sandbox accepts any. The same for all commands: a transaction is shown only to the AP that began it. */
const defaultApId = 'mid://paraph.example';
const passwordVariable = 'PARAPH_AP_PWD';

export const addConnectionOptions = (command: Command): Command =>
  command
    .option('--url <url>', `base URL of the service (default: PARAPH_URL, else ${defaultUrl})`)
    .option('--ap-id <id>', `AP_ID of the caller (default: PARAPH_AP_ID, else ${defaultApId})`)
    .option(
      '--ap-password-env <name>',
      `environment variable that holds the AP_PWD (default: ${passwordVariable}, if it is set)`,
    );

const parseUrl = (text: string): URL => {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  // The value may hold a password, so it is not repeated.
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw new UsageProblem('--url (or PARAPH_URL) must be an http or https URL.');
  }
  if (url.search !== '' || url.hash !== '' || url.username !== '' || url.password !== '') {
    throw new UsageProblem('--url (or PARAPH_URL) must have no user, query or fragment.');
  }
  return url;
};

const readPassword = (context: CliContext, name: string | undefined): string | undefined => {
  const password = variable(context, name ?? passwordVariable);
  // What was given may be the password itself, by mistake.
  if (name !== undefined && password === undefined) {
    throw new UsageProblem('The environment variable that --ap-password-env names is not set.');
  }
  return password;
};

const isLoopback = ({ hostname }: URL): boolean =>
  hostname === 'localhost' || hostname === '[::1]' || /^127\./.test(hostname);

/**
 * @param secret What is sent there and must not be read on the way.
 * @returns Without a slash at the end.
 * @throws UsageProblem
 */
export const serviceUrl = (context: CliContext, given: string | undefined, secret?: string): string => {
  const url = parseUrl(given ?? variable(context, 'PARAPH_URL') ?? defaultUrl);
  if (secret !== undefined && url.protocol === 'http:' && !isLoopback(url)) {
    context.stderr.write(`paraph: ${secret} is sent without encryption, because the URL is not https.\n`);
  }
  return url.href.replace(/\/+$/, '');
};

/** @throws UsageProblem */
export const connect = (context: CliContext, flags: ConnectionFlags): Connection => {
  const apPassword = readPassword(context, flags.apPasswordEnv);
  const url = serviceUrl(context, flags.url, apPassword && 'AP_PWD');
  const client = createCalls({
    url,
    apId: flags.apId ?? variable(context, 'PARAPH_AP_ID') ?? defaultApId,
    apPassword,
    fetch: context.fetch,
    now: context.now,
    signal: context.signal,
  });
  const repeated = [
    ...(flags.url === undefined ? [] : ['--url', flags.url]),
    ...(flags.apId === undefined ? [] : ['--ap-id', flags.apId]),
    ...(flags.apPasswordEnv === undefined ? [] : ['--ap-password-env', flags.apPasswordEnv]),
  ];
  return {
    client,
    url,
    resume: (msspTransId) => ['paraph status', msspTransId, '--wait', ...repeated].join(' '),
  };
};

/** A transaction that has not ended, and how to ask for its end. */
export const outstandingReport = (
  { resume }: Connection,
  known: { readonly msspTransId: string },
): Report => ({
  outcome: 'outstanding',
  document: known,
  problem: `Transaction ${known.msspTransId} is outstanding; to wait for its end: ${resume(known.msspTransId)}`,
});

/**
 * @param goesOn Said on Ctrl-C: what became of what was sent.
 * @param known  Members for the JSON that are known already.
 * @throws Ended When the call was not answered with 200.
 */
export const answerIn = <T>({ url }: Connection, reply: Reply<T>, goesOn: string, known: object = {}): T => {
  switch (reply.kind) {
    case 'answered':
      return reply.value;
    case 'fault': {
      const { code, reason, detail } = reply.fault;
      const problem = `Fault ${code} ${reason}: ${detail}`;
      throw new Ended({ outcome: 'fault', document: { ...known, fault: reply.fault }, problem });
    }
    case 'unreachable': {
      const problem = `No signature service at ${url}: ${reply.cause}.`;
      throw new Ended({ outcome: 'unreachable', document: known, problem });
    }
    case 'aborted':
      throw new Ended({ outcome: 'interrupted', document: known, problem: goesOn });
  }
};
