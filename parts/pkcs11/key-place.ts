/** The token that the configuration names, for the service and for commands. */

import { readSecretFile } from '../../src/environment/setting-file.ts';
import { type KeyPlace, PartSetupError } from '../../src/part/opened.ts';
import type { KeyPlaceRooms } from '../../src/part/rooms.ts';
import type { pkcs11Configuration } from './configuration.ts';
import { createToken, type Token } from './token.ts';
import { createTokenVault } from './token-vault.ts';

const noPin = 'custody.pinFile, or the variable PARAPH_TOKEN_PIN, must give the PIN of the token';

/** Node waits for its threads when it exits, and one inside a call does not end. */
const endWithProcess = (token: Pick<Token, 'holdsProcess'>): void => {
  process.once('exit', (code) => {
    const hasFailed = code !== 0;
    if (!token.holdsProcess(hasFailed)) return;
    process.removeAllListeners('SIGTERM');
    // The first process of a container does not get its own signals.
    if (process.pid === 1) process.abort();
    // A supervisor starts what has failed again.
    process.kill(process.pid, hasFailed ? 'SIGKILL' : 'SIGTERM');
  });
};

/**
 * The check never fails: all processes have the same token, and requests that need no signature go
 * on. The token's own reason goes to the log alone, because it may name what is not for everybody.
 */
const checkOf = (token: Pick<Token, 'trouble'>): KeyPlace['checks'][number] => ({
  name: 'token',
  trouble: 'It is not known whether the token answers',
  look: async () => ({
    ok: true,
    ...(token.trouble() !== undefined && {
      reason: 'The token is away: what needs its keys waits',
    }),
  }),
});

/** @param threadFile The same as for `createToken`. */
export const openToken = (
  {
    settings: { custody },
    prefix,
    variables: { PARAPH_TOKEN_PIN: pin },
    log,
    onError,
  }: KeyPlaceRooms<(typeof pkcs11Configuration)['shapes']>,
  threadFile: URL | undefined,
): KeyPlace | undefined => {
  if (custody.kind === 'store') return undefined;
  const { pinFile, userKeys } = custody;
  const pinOfEnvironment = (): string => {
    if (pin === undefined) throw new PartSetupError(noPin);
    return pin;
  };
  const readPin = (): string =>
    pinFile === undefined ? pinOfEnvironment() : readSecretFile('custody.pinFile', pinFile);
  const token = createToken({
    settings: custody,
    readPin,
    log: {
      away: (reason) => onError(new Error(`The token is away: ${reason}`)),
      back: () => log.info({}, 'the token is back'),
    },
    ...(threadFile !== undefined && { threadFile }),
  });
  endWithProcess(token);
  return {
    vault: (waitMs) => createTokenVault({ token, prefix, withUsers: userKeys === 'token', waitMs }),
    open: async () => {
      // A token that is away is waited for, but a PIN that is nowhere comes from no token.
      readPin();
      await token.open();
    },
    checks: [checkOf(token)],
    close: token.close,
  };
};
