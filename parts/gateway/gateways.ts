/**
 * The gateways of a process: our side of the connection to other services of this interface.
 *
 * Passwords and keys come from files, which are read once, and are used in bodies and TLS only.
 */
import { type Calls, createCalls } from '../../packages/client/src/calls.ts';
import { createFetches } from '../../packages/client/src/fetch.ts';
import { usableRoots } from '../../packages/pki/src/roots.ts';
import {
  readSecretFile,
  readSettingFile,
  SettingFileError,
} from '../../src/environment/setting-file.ts';
import { serviceOrigin, type Upstream } from '../../src/sscd/device.ts';
import type { GatewaySettings } from './configuration.ts';

export interface Gateway {
  readonly settings: Pick<GatewaySettings, 'name' | 'url' | 'authority' | 'mode' | 'repeats'>;
  readonly upstream: Upstream;
  /** The roots (DER) of the certificates of its users. */
  readonly trust: readonly Uint8Array[];
  /** Calls that change something. Each has a connection of its own. */
  calls(signal: AbortSignal): Calls;
  /** Calls that change nothing. Connections are kept. */
  asks(signal: AbortSignal): Pick<Calls, 'status' | 'rawProfile'>;
  /**
   * The time of the next status request of a transaction. The number in each second is limited.
   *
   * @param wanted Milliseconds since the epoch, like the result, which is not earlier.
   */
  pollAt(wanted: number): number;
  /** The pause before the next status request, `sinceMs` after the first. Milliseconds. */
  pauseMs(sinceMs: number): number;
  /** The time at which the service last took a request of this process; ms since the epoch. */
  readonly tookAt: { latest: number };
}

export type Gateways = ReturnType<typeof openGateways>;

const minPauseMs = 20;
/** The timeout of answers that need no person (packages/client/src/calls.ts). */
const timeoutMs = 15_000;

const rootsIn = (key: string, pem: string): readonly Uint8Array[] => {
  const roots = usableRoots(pem);
  if (roots !== undefined) return roots;
  throw new SettingFileError(key, 'the file has no usable certificate (PEM)');
};

/**
 * Spreads status requests, so that each second has `perSecond` at most. A request whose second is
 * full gets the next free place.
 *
 * @public Used by its test.
 */
export const createPollPlaces = (perSecond: number) => {
  /** The number of taken places, by second since the epoch. */
  const taken = new Map<number, number>();
  return (wanted: number): number => {
    const wish = Math.floor(wanted / 1000);
    let second = wish;
    while ((taken.get(second) ?? 0) >= perSecond) second += 1;
    const before = taken.get(second) ?? 0;
    taken.set(second, before + 1);
    // Places in the past are forgotten. No request is planned this long ahead.
    if (taken.size > 1000)
      for (const past of taken.keys()) if (past < wish - 100) taken.delete(past);
    return second === wish ? wanted : second * 1000 + Math.floor((before * 1000) / perSecond);
  };
};

const openGateway = (settings: GatewaySettings, index: number, now: () => number) => {
  const {
    name,
    url,
    apId,
    apPasswordFile,
    authority,
    languageAuthority,
    tls = {},
    limits,
  } = settings;
  const key = (member: string): string => `gateways[${index}].${member}`;
  const read = (member: string, path: string | undefined): string | undefined =>
    path === undefined ? undefined : readSettingFile(key(member), path).toString('utf8');
  const apPassword =
    apPasswordFile === undefined
      ? undefined
      : readSecretFile(key('apPasswordFile'), apPasswordFile);
  const fetches = createFetches(url, {
    cert: read('tls.certFile', tls.certFile),
    key: read('tls.keyFile', tls.keyFile),
    ca: read('tls.caFile', tls.caFile),
  });
  const common = { url, apId, apPassword, dialect: { authority, languageAuthority }, now };
  const gateway: Gateway = {
    settings,
    upstream: { origin: serviceOrigin(name), timeoutMs },
    trust: rootsIn(
      key('trustAnchorsFile'),
      readSettingFile(key('trustAnchorsFile'), settings.trustAnchorsFile).toString('utf8'),
    ),
    calls: (signal) => createCalls({ ...common, fetch: fetches.once, signal }),
    asks: (signal) => createCalls({ ...common, fetch: fetches.repeatable, signal }),
    pollAt: createPollPlaces(limits.pollsPerSecond),
    pauseMs: (sinceMs) => Math.min(Math.max(sinceMs / 3, minPauseMs), limits.maxPollSeconds * 1000),
    tookAt: { latest: Number.NEGATIVE_INFINITY },
  };
  return { gateway, close: fetches.close };
};

/** @throws SettingFileError */
export const openGateways = (settings: readonly GatewaySettings[], now: () => number) => {
  const opened = new Map(
    settings.map((each, index) => [each.name, openGateway(each, index, now)] as const),
  );
  return {
    find: (name: string): Gateway | undefined => opened.get(name)?.gateway,
    /** The roots of the signatures from a gateway. */
    trust: (name: string): readonly Uint8Array[] | undefined => opened.get(name)?.gateway.trust,
    /** The maximum of concurrent calls, by `upstream.origin`. */
    maxCalls: new Map(settings.map(({ name, limits }) => [serviceOrigin(name), limits.calls])),
    close: (): void => {
      for (const { close } of opened.values()) close();
    },
  };
};
