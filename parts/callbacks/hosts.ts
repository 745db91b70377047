import type { CallbackRow } from './callback-row.ts';
import { type CallbackProvider, callbackHostOf } from './configuration.ts';

/** Hosts of the callbacks of applications. The rest of an address may hold a secret. */
export const createCallbackHosts = (providers: readonly CallbackProvider[]) => {
  const hosts = new Map(providers.map((provider) => [provider.id, callbackHostOf(provider)]));
  return {
    of: (apId: string): string | undefined => hosts.get(apId),
    /** The AP_IDs of the applications that have a callback. */
    apIds: [...hosts].flatMap(([apId, host]) => (host === undefined ? [] : [apId])),
    /** Adds the host to rows. It is absent when the application no longer has a callback. */
    shown: (rows: readonly CallbackRow[]): readonly CallbackRow[] =>
      rows.map((row) => {
        const host = row.host ?? hosts.get(row.apId);
        return host === undefined ? row : { ...row, host };
      }),
  };
};

export type CallbackHosts = ReturnType<typeof createCallbackHosts>;
