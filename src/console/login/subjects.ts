/**
 * The `sub` of a number in the provider's ID tokens for the console. It is computed, so that a
 * phone is assigned by its number and the number is not stored.
 */
import { createPairwise, type OwnerOf } from '../../oauth/claims.ts';
import { chooseNumber } from '../../oauth/login-hint.ts';
import { consoleSector } from '../../registry/console-client.ts';

/**
 * @param msisdn A number as people write it, with the country code.
 * @returns Undefined for a text that is not a number.
 */
export type SubjectOf = (msisdn: string) => string | undefined;

const anyNumber = { hints: [], manualInput: true } as const;

/**
 * @param tenant  Id of the tenant at which users of the console log in.
 * @param ownerOf `ownerOf` of the key custody.
 */
export const createSubjects = (
  serviceKey: Uint8Array,
  tenant: string,
  ownerOf: OwnerOf,
): SubjectOf => {
  const pairwise = createPairwise(serviceKey, tenant, ownerOf);
  return (msisdn) => {
    // Test numbers are allowed here.
    const chosen = chooseNumber(msisdn, anyNumber, () => false);
    return chosen.ok ? pairwise(chosen.msisdn, { sector: consoleSector }) : undefined;
  };
};
