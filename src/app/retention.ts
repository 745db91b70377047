import type { Configuration } from './configuration/schema.ts';

const dayMs = 86_400_000;

/** The retention of ended transactions, in milliseconds. */
export const retentionOf = ({
  retention: { signedDays, failedDays },
}: Pick<Configuration, 'retention'>): { readonly signedMs: number; readonly failedMs: number } => ({
  signedMs: signedDays * dayMs,
  failedMs: failedDays * dayMs,
});
