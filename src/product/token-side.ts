/** The token that the configuration names, for the service and for commands. */
import { readFileSync } from 'node:fs';
import type { Configuration } from '../configuration/schema.ts';
import { ownVault } from '../pki/key-vault.ts';
import type { KeyVault } from '../pki/ports.ts';
import { createToken, type Token, TokenSetupError } from '../pki/token/token.ts';
import { createTokenVault } from '../pki/token/token-vault.ts';

const noPin = 'custody.pinFile, or the variable PARAPH_TOKEN_PIN, must give the PIN of the token';

const readPinFile = (path: string): string => {
  try {
    return readFileSync(path, 'utf8').replace(/\r?\n$/, '');
  } catch (error) {
    throw new Error(
      `custody.pinFile: the file cannot be read (${(error as NodeJS.ErrnoException).code})`,
    );
  }
};

/** @throws TokenSetupError */
export const assertPin = (
  { custody }: Pick<Configuration, 'custody'>,
  pin: string | undefined,
): void => {
  if (custody.kind === 'pkcs11' && custody.pinFile === undefined && pin === undefined)
    throw new TokenSetupError(noPin);
};

/**
 * @param pin The PIN from the environment.
 * @returns `token` is undefined where private keys are in the store. `vault` takes how many
 *   milliseconds callers wait for a token that is away; default: `timeoutSeconds`.
 */
export const openTokenSide = (
  { custody, queue: { prefix } }: Pick<Configuration, 'custody' | 'queue'>,
  {
    pin,
    log = { away: () => undefined, back: () => undefined },
    threadFile,
  }: {
    readonly pin: string | undefined;
    readonly log?: Parameters<typeof createToken>[0]['log'];
    readonly threadFile?: URL | undefined;
  },
): { readonly token: Token | undefined; readonly vault: (waitMs?: number) => KeyVault } => {
  if (custody.kind === 'store') return { token: undefined, vault: () => ownVault };
  const { pinFile, userKeys } = custody;
  const pinOfEnvironment = (): string => {
    if (pin === undefined) throw new Error(noPin);
    return pin;
  };
  const token = createToken({
    settings: custody,
    readPin: () => (pinFile === undefined ? pinOfEnvironment() : readPinFile(pinFile)),
    log,
    ...(threadFile !== undefined && { threadFile }),
  });
  process.once('exit', (code) => {
    const hasFailed = code !== 0;
    if (!token.holdsProcess(hasFailed)) return;
    // Node waits for its threads when it exits, and one inside a call does not end.
    process.removeAllListeners('SIGTERM');
    // The first process of a container does not get its own signals.
    if (process.pid === 1) process.abort();
    // After a failure the exit shows one, so that a supervisor starts the process again.
    process.kill(process.pid, hasFailed ? 'SIGKILL' : 'SIGTERM');
  });
  return {
    token,
    vault: (waitMs) => createTokenVault({ token, prefix, withUsers: userKeys === 'token', waitMs }),
  };
};
