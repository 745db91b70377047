/**
 * The options of all commands that call a running service, and the client for them.
 *
 * The application's password comes from the environment: every user of the machine can read an
 * argument (`ps`), and it stays in the shell's history.
 */
import type { Command } from 'commander';
import { type Calls, createCalls } from '../../packages/client/src/calls.ts';
import type { Reply } from '../../packages/client/src/reply.ts';
import { isLoopbackHost } from '../../packages/protocol/src/loopback.ts';
import { defaultUrl } from '../environment/environment.ts';
import { type CliContext, CommandEnd, UsageError, variable } from './context.ts';

export interface ConnectionFlags {
  readonly url?: string;
  readonly apId?: string;
  readonly apPasswordEnv?: string;
}

export interface Connection {
  readonly client: Calls;
  /** The URL without secrets. */
  readonly url: string;
  /** HTTP Basic with AP_ID and AP_PWD, for addresses beside the signature interface. */
  readonly authorization: string;
  /** The command that shows how a transaction ends, with the same options. */
  resume(msspTransId: string, oneTimePassword: boolean): string;
}

/** The AP_ID for a sandbox, which accepts any. Commands share it, to see the same transactions. */
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
    throw new UsageError('--url (or PARAPH_URL) must be an http or https URL.');
  }
  if (url.search !== '' || url.hash !== '' || url.username !== '' || url.password !== '') {
    throw new UsageError('--url (or PARAPH_URL) must have no user, query or fragment.');
  }
  return url;
};

const readPassword = (context: CliContext, name: string | undefined): string | undefined => {
  const password = variable(context, name ?? passwordVariable);
  // The given name is not printed: it may be the password, by mistake.
  if (name !== undefined && password === undefined) {
    throw new UsageError('The environment variable that --ap-password-env names is not set.');
  }
  return password;
};

/**
 * @param secret The name of a secret that is sent there. A warning is printed when the URL is not
 * https.
 * @returns The URL without a slash at its end.
 * @throws UsageError
 */
export const serviceUrl = (
  context: CliContext,
  given: string | undefined,
  secret?: string,
): string => {
  const url = parseUrl(given ?? variable(context, 'PARAPH_URL') ?? defaultUrl);
  if (secret !== undefined && url.protocol === 'http:' && !isLoopbackHost(url.hostname)) {
    context.stderr.write(
      `paraph: ${secret} is sent without encryption, because the URL is not https.\n`,
    );
  }
  return url.href.replace(/\/+$/, '');
};

/** @throws UsageError */
export const connect = (context: CliContext, flags: ConnectionFlags): Connection => {
  const apPassword = readPassword(context, flags.apPasswordEnv);
  const url = serviceUrl(context, flags.url, apPassword && 'AP_PWD');
  const apId = flags.apId ?? variable(context, 'PARAPH_AP_ID') ?? defaultApId;
  const client = createCalls({
    url,
    apId,
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
    authorization: `Basic ${btoa(`${encodeURIComponent(apId)}:${encodeURIComponent(apPassword ?? '')}`)}`,
    resume: (msspTransId, oneTimePassword) =>
      [
        'paraph status',
        msspTransId,
        '--wait',
        ...(oneTimePassword ? ['--otp'] : []),
        ...repeated,
      ].join(' '),
  };
};

/**
 * @param goesOn The error on Ctrl-C, which tells what happens to the request that was sent.
 * @param known  Members of the JSON that are already known.
 * @throws CommandEnd when the call was not answered with 200.
 */
export const answerIn = <T>(
  { url }: Connection,
  reply: Reply<T>,
  goesOn: string,
  known: object = {},
): T => {
  switch (reply.kind) {
    case 'answered':
      return reply.value;
    case 'fault': {
      const { code, reason, detail } = reply.fault;
      const problem = `Fault ${code} ${reason}: ${detail}`;
      throw new CommandEnd({
        outcome: 'fault',
        document: { ...known, fault: reply.fault },
        problem,
      });
    }
    case 'unreachable': {
      const problem = `No signature service at ${url}: ${reply.cause}.`;
      throw new CommandEnd({ outcome: 'unreachable', document: known, problem });
    }
    case 'aborted':
      throw new CommandEnd({ outcome: 'interrupted', document: known, problem: goesOn });
  }
};
