/**
 * A gateway: another service with this interface, which has signing devices. The device of a
 * subscriber names it as its `upstream`.
 */
import { z } from 'zod';
import { defineConfiguration } from '../../src/part/part.ts';
import {
  type DeepReadonly,
  flag,
  refuseRepeats,
  section,
  whole,
} from '../../src/registry/entry.ts';
import { type Subscriber, subscriberList } from '../../src/registry/subscriber.ts';
import { isSecureAddress } from '../../src/registry/web-address.ts';

const url = z
  .string()
  .max(2048)
  .refine(
    (text) =>
      URL.canParse(text) && /^https?:\/\/[^@?#\s]+$/.test(text) && new URL(text).username === '',
    {
      error: 'must be an http or https URL without user, password, query or fragment',
      abort: true,
    },
  )
  .transform((text) => text.replace(/\/+$/, ''));

const host = z.string().regex(/^[a-z0-9.-]+$/, { error: 'must be a host name in lower case' });

const tls = z
  .strictObject({
    certFile: z.string().min(1).optional().describe('Client certificate and those above it, PEM.'),
    keyFile: z.string().min(1).optional().describe('Its private key, PEM.'),
    caFile: z
      .string()
      .min(1)
      .optional()
      .describe(
        "CA certificates that may have issued the server's, PEM. Default: those of Node.js.",
      ),
  })
  .refine(({ certFile, keyFile }) => (certFile === undefined) === (keyFile === undefined), {
    path: ['keyFile'],
    error: 'must be set together with certFile',
  });

const entry = z.strictObject({
  name: z
    .string()
    .regex(/^[a-z0-9][a-z0-9-]{0,31}$/, { error: 'must be 1 to 32 of a-z, 0-9 and -' })
    .describe('By which devices name it; also in the log, the console and evidence.'),
  url: url.describe(
    'Base address; the paths of the interface follow it. https, except to this machine.',
  ),
  apId: z.string().min(1).max(255).describe('Our AP_ID there.'),
  apPasswordFile: z.string().min(1).optional().describe('File that holds our AP_PWD there.'),
  authority: host
    .default('mid.vendor.ch')
    .describe('Host part of the URIs of profiles and services there.'),
  languageAuthority: host
    .optional()
    .describe('Host part of the URI of the service `userLang`, where it is another.'),
  mode: z
    .enum(['asynch', 'synch'])
    .default('asynch')
    .describe(
      '`asynch`: its status is polled while the job sleeps. `synch`: one call stays open until the person has acted.',
    ),
  repeats: z
    .enum(['joined', 'refused', 'unknown'])
    .default('unknown')
    .describe(
      'What it does with a request that equals an earlier one (AP_ID, AP_TransID, Instant, content), also after the end of that: `joined` answers with the id of the earlier one, as Paraph does; `refused` answers with a fault. Only `joined` finds a request again whose answer was lost ([gateway.md](gateway.md#what-was-accepted-is-found-again)).',
    ),
  tls: tls.optional().describe('How it is reached by https.'),
  trustAnchorsFile: z
    .string()
    .min(1)
    .describe(
      "Roots of its users' certificates, PEM. A signature that does not lead to one is refused.",
    ),
  default: flag(
    false,
    'Every number that is no subscriber here is behind it, with a SIM and an App. One gateway at most.',
  ),
  limits: section({
    calls: whole(4, 10_000, 200).describe(
      'Calls at a time in one process. One application may have a quarter.',
    ),
    pollsPerSecond: whole(1, 10_000, 100).describe(
      'Status requests of one process. With more open transactions each is asked less often.',
    ),
    maxPollSeconds: whole(1, 60, 3).describe(
      'Longest pause between two status requests of a transaction.',
    ),
  }).describe('What one process may ask of it.'),
});

export type GatewaySettings = DeepReadonly<z.output<typeof entry>>;

/** @public For tests. */
export const gatewayList = z.array(entry).superRefine((entries, context) => {
  refuseRepeats(['name'], (_, first) => `is the same as gateways[${first}].name`)(entries, context);
  const defaults = entries.flatMap((each, index) => (each.default ? [index] : []));
  for (const index of defaults.slice(1)) {
    const message = `gateways[${defaults[0]}] is the default already`;
    context.addIssue({ code: 'custom', path: [index, 'default'], message });
  }
});

const device = z.strictObject({
  kind: z.literal('gateway').describe('A device at another service.'),
  upstream: z
    .string()
    .min(1)
    .describe('Name of the gateway (`gateways[].name`) behind which it is.'),
});

/** The gateways that its devices name. */
const gatewaysOf = ({ sim, apps }: Pick<Subscriber, 'sim' | 'apps'>): readonly string[] =>
  [...(sim === undefined ? [] : [sim]), ...apps].flatMap(({ device: spec }) =>
    'upstream' in spec && spec.kind === 'gateway' ? [spec.upstream] : [],
  );

export const gatewayConfiguration = defineConfiguration({
  shapes: {
    root: {
      gateways: gatewayList
        .prefault([])
        .describe(
          'Other services of this interface, behind which devices of subscribers are ([gateway.md](gateway.md)).',
        ),
    },
  },
  devices: [device],
  check: ({ sandbox, subscribers, gateways }, refuse) => {
    const names = new Set(gateways.map(({ name }) => name));
    for (const [index, { subscriber }] of subscribers.entries()) {
      // An element with another error is undefined here.
      const upstreams = (subscriber as typeof subscriber | undefined) && gatewaysOf(subscriber);
      if (upstreams?.some((name) => !names.has(name)))
        refuse(['subscribers', index], 'has a device whose upstream gateways does not name');
    }
    for (const [index, { url: address }] of gateways.entries()) {
      if (!sandbox && !isSecureAddress(address))
        refuse(['gateways', index, 'url'], 'must be https, unless it is this machine or a sandbox');
    }
  },
});

/** Makes the subscriber for a number that only the gateway knows. The gateway chooses a device. */
export const createBehind = (
  upstream: string | undefined,
): ((msisdn: string) => Subscriber | undefined) => {
  if (upstream === undefined) return () => undefined;
  const sscd = { device: { kind: 'gateway', upstream } };
  const [any] = subscriberList([device]).parse([{ msisdn: '1000000', sim: sscd, apps: [sscd] }]);
  return (msisdn) => any && { ...any.subscriber, msisdn };
};
