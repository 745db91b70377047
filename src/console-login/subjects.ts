/**
 * Who a number is to the console: the `sub` that the provider's ID token will have. It is computed, so that a user is given a
 * phone by its number and the number is not kept.
 */
import { createPairwise } from '../oauth/claims.ts';
import { chooseNumber } from '../oauth/login-hint.ts';
import { consoleSector } from '../registry/console-client.ts';

/** @returns Undefined for what is no number. @param msisdn As people write numbers, with the country code. */
export type SubjectOf = (msisdn: string) => string | undefined;

const anyNumber = { hints: [], manualInput: true } as const;

/** @param tenant Id of the one that the console's people log in at. */
export const createSubjects = (masterKey: Uint8Array, tenant: string): SubjectOf => {
  const pairwise = createPairwise(masterKey, tenant);
  return (msisdn) => {
    // Read as the provider's own page reads it. Test numbers are people like others here.
    const chosen = chooseNumber(msisdn, anyNumber, () => false);
    return chosen.ok ? pairwise(chosen.msisdn, { sector: consoleSector }) : undefined;
  };
};
