import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { describeUnknownKey } from './removed-keys.ts';
import { type Configuration, configurationSchema } from './schema.ts';

/**
 * Reads the configuration file. An error names the key and what it must be, never its value: values
 * may be secrets, and errors are printed where others read. The message of a JSON parser would
 * quote the text, so it is not shown.
 */
export type LoadedConfiguration =
  | { readonly ok: true; readonly value: Configuration }
  | { readonly ok: false; readonly problems: readonly string[] };

/** `subscribers[0].sim.state`; the root itself is `configuration`. */
const writePath = (path: PropertyKey[]): string => z.core.toDotPath(path) || 'configuration';

/** JSON has no `undefined`, so zod speaks of a key that is not there. */
const isMissing = ({ code, message }: z.core.$ZodIssue): boolean =>
  code === 'invalid_type' && message.endsWith('received undefined');

const problemsOf = (issue: z.core.$ZodIssue): readonly string[] =>
  issue.code === 'unrecognized_keys'
    ? issue.keys.map((key) => {
        const path = writePath([...issue.path, key]);
        return `${path}: ${describeUnknownKey(path)}`;
      })
    : [`${writePath(issue.path)}: ${isMissing(issue) ? 'missing' : issue.message}`];

const check = (input: unknown): LoadedConfiguration => {
  const parsed = configurationSchema.safeParse(input);
  return parsed.success
    ? { ok: true, value: parsed.data }
    : { ok: false, problems: parsed.error.issues.flatMap(problemsOf) };
};

/** Usable, and yet probably a mistake. */
export const warningsAbout = ({
  publicUrl,
  tls,
  trustedProxy,
}: Configuration): readonly string[] =>
  publicUrl?.startsWith('https:') && tls === undefined && trustedProxy === undefined
    ? [
        'publicUrl is https and there is no tls, so a proxy must be in front: name its addresses in trustedProxy.addresses, or what all its callers do is limited together, and how much one of them may do depends on the headers that it adds',
      ]
    : [];

/** Line and column of a syntax error, where the parser tells its position. */
const placeOf = (error: unknown, text: string): string => {
  const position = /at position (\d+)/.exec(error instanceof Error ? error.message : '')?.[1];
  if (position === undefined) return '';
  const before = text.slice(0, Number(position)).split('\n');
  return `, line ${before.length}, column ${(before.at(-1) ?? '').length + 1}`;
};

export const parseConfiguration = (text: string): LoadedConfiguration => {
  let input: unknown;
  try {
    input = JSON.parse(text);
  } catch (error) {
    return { ok: false, problems: [`configuration: not valid JSON${placeOf(error, text)}`] };
  }
  return check(input);
};

/**
 * The configuration of a file, or the embedded default: a sandbox. @param path Undefined for the
 * default. A path that cannot be read is an error, not a sandbox.
 */
export const loadConfiguration = async (path: string | undefined): Promise<LoadedConfiguration> => {
  if (path === undefined) return check({ sandbox: true });
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    const reason = error instanceof Error && 'code' in error ? String(error.code) : 'unreadable';
    return { ok: false, problems: [`configuration: the file cannot be read (${reason})`] };
  }
  return parseConfiguration(text);
};
