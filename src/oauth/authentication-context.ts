/**
 * acr and amr: what was asked for decides which device is asked, and what signed decides what is told.
 *
 * SIM and App are both of the highest level here; the level of a one-time password by text message is 2.
 */

import type { ProfileName } from '../protocol/requests.ts';
import { type AcrValue, acrValues } from '../registry/oauth-client.ts';
import type { SignedView } from '../transactions/outcomes.ts';
import type { AmrValue } from './evidence.ts';

export type LoginMethod = 'sim' | 'app' | 'otp';

const satisfied: Readonly<Record<LoginMethod, readonly AcrValue[]>> = {
  sim: ['mid_al3_any', 'mid_al3_simcard', 'mid_al2_any', 'mid_al4_any'],
  app: ['mid_al3_any', 'mid_al3_mobileapp', 'mid_al2_any', 'mid_al4_any'],
  otp: ['mid_al2_any'],
};

/** The signature profile for what a client asked for: a device by name only when nothing else would do. */
export const profileFor = (requested: readonly AcrValue[]): ProfileName => {
  const only = (value: AcrValue): boolean =>
    requested.length > 0 && requested.every((each) => each === value);
  if (only('mid_al3_simcard')) return 'STK-LoA4';
  if (only('mid_al3_mobileapp')) return 'Device-LoA4';
  return 'Any-LoA4';
};

/** @returns The first of the requested ones that the method satisfies; undefined when it satisfies none of them. */
export const acrOf = (requested: readonly AcrValue[], method: LoginMethod): AcrValue | undefined => {
  const values = satisfied[method];
  return requested.length === 0 ? values[0] : requested.find((value) => values.includes(value));
};

/** Device ids are `sim`, `app-0`, `app-1` …; a text that was only delivered was signed by nothing. */
export const methodOf = ({ signature, sscdId }: SignedView): LoginMethod => {
  if (signature === undefined) return 'otp';
  return sscdId === 'sim' ? 'sim' : 'app';
};

export const amrOf = (method: LoginMethod, located: boolean): readonly AmrValue[] => [
  `mid_${method}` as const,
  ...(located ? (['mid_geo'] as const) : []),
];

/** The known ones of a space-separated list, in its order. */
export const acrValuesIn = (text: unknown): readonly AcrValue[] =>
  typeof text === 'string'
    ? text.split(' ').filter((value): value is AcrValue => (acrValues as readonly string[]).includes(value))
    : [];
