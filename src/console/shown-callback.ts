/** A callback as everybody sees it: with the host that it goes to. The rest of the address may hold a secret. */
import type { CallbackRow } from '../history/callback-row.ts';
import type { ProviderView } from './deps.ts';

export interface ShownCallback extends CallbackRow {
  /** Absent when the application has no callback any more. */
  readonly host?: string;
}

export const shownCallbacks = (
  rows: readonly CallbackRow[],
  providers: readonly ProviderView[],
): readonly ShownCallback[] => {
  const hosts = new Map(providers.map(({ id, callbackHost }) => [id, callbackHost]));
  return rows.map((row) => {
    const host = hosts.get(row.apId);
    return host === undefined ? row : { ...row, host };
  });
};
