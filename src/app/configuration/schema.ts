import { z } from 'zod';
import { defaultProtocolRules } from '../../../packages/protocol/src/rules.ts';
import { partConfigurations } from '../../../parts/configuration.ts';
import { applicationProviderList } from '../../registry/application-providers.ts';
import {
  amount,
  type DeepReadonly,
  flag,
  ownOrigin,
  positive,
  section,
  whole,
} from '../../registry/entry.ts';
import { oidcSettings, promptProblem, promptSecondsOf } from '../../registry/oauth-client.ts';
import { subscriberList } from '../../registry/subscriber.ts';
import { isSecureAddress } from '../../registry/web-address.ts';
import { checkOpenid, openidTenantOf, operationsSettings } from './operations.ts';
import { devicesOfParts, shapeOf } from './parts.ts';

/**
 * The configuration file. Every object is strict, so that a misspelt key is an error and not an
 * unnoticed default. docs/configuration.md is printed from the descriptions.
 */
const protocol = z
  .strictObject({
    authorities: z
      .array(z.string().regex(/^[a-z0-9.-]+$/, { error: 'must be a host name in lower case' }))
      .min(1)
      .default([...defaultProtocolRules.authorities])
      .describe(
        'Host parts that profile and service URIs may have. Answers repeat the one that was used.',
      ),
    minTimeoutSeconds: whole(1, 3600, 1).describe('Least TimeOut of a request.'),
    maxTimeoutSeconds: whole(1, 3600, 300).describe('Greatest TimeOut of a request.'),
  })
  .refine(({ minTimeoutSeconds, maxTimeoutSeconds }) => minTimeoutSeconds <= maxTimeoutSeconds, {
    path: ['maxTimeoutSeconds'],
    error: 'must not be less than minTimeoutSeconds',
  })
  .prefault({});

const retention = section({
  signedDays: positive(3650, 7).describe(
    'How long the status of a signed transaction can be asked for.',
  ),
  failedDays: positive(3650, 30).describe(
    'How long that of a failed one can be asked for, and replayed.',
  ),
});

const workers = section({
  concurrency: whole(1, 10_000, 16).describe(
    'Turns at a time in one process; a waiting transaction holds none.',
  ),
  lockSeconds: amount(1, 300, 2).describe(
    'How long a worker keeps a step without renewing its lock.',
  ),
  stalledCheckSeconds: amount(0.5, 300, 1).describe('How often lost steps are looked for.'),
});

const queue = section({
  shards: whole(1, 62 * 62, 1).describe(
    'Number of queues. The same for all processes; drain before changing.',
  ),
  prefix: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,32}$/, { error: 'must be 1 to 32 letters, digits, _ or -' })
    .default('paraph')
    .describe('First part of every key in Redis.'),
  maxWaiting: whole(1, 10_000_000, 10_000).describe(
    'Transactions of one application that may wait for a worker, for each shard. Further signature requests are refused. All applications together may have a hundred times as many.',
  ),
  ...shapeOf('queue'),
});

const http = section({
  maxBodyBytes: whole(1024, 10_485_760, 65_536).describe('Largest body of a request.'),
  requestTimeoutSeconds: positive(300, 10).describe('Time to send a whole request.'),
  headersTimeoutSeconds: positive(300, 5).describe('Time to send its headers.'),
  keepAliveSeconds: positive(3600, 5).describe(
    'How long an idle connection stays open. Longer than the proxy in front.',
  ),
  lameDuckSeconds: amount(0, 600, 0).describe(
    'How long a stopping process still serves new requests while `/readyz` says 503. Behind a balancer: longer than it takes to notice.',
  ),
  drainSeconds: amount(0, 600, 4).describe(
    'How long running requests may still be answered after that. Requests that still wait for a person get fault 900; their transactions continue.',
  ),
  maxConnections: whole(1, 1_000_000, 20_000).describe(
    'Connections to one process. At the limit idle ones are closed, new ones refused.',
  ),
  maxInHand: whole(1, 1_000_000, 2000).describe(
    'Signature requests in work in one process, without those that wait for a person. Further ones are refused; other requests are refused at twice as many of all kinds. One application may have three quarters.',
  ),
  maxWaitingCallers: whole(1, 1_000_000, 10_000).describe(
    'Requests of one process that wait for a person. Further signature requests are refused. One application may have three quarters.',
  ),
});

const tls = z.strictObject({
  certFile: z.string().min(1).describe('Certificate chain, PEM.'),
  keyFile: z.string().min(1).describe('Its private key, PEM.'),
  clientCaFile: z
    .string()
    .min(1)
    .optional()
    .describe(
      'CA certificates or self-signed client certificates, PEM. With it clients are asked for a certificate, and hear these names. Which certificate counts is the fingerprint of the application: neither chain nor validity is looked at.',
    ),
});

const address = z.union([z.cidrv4(), z.cidrv6(), z.ipv4(), z.ipv6()], {
  error: 'must be an IP address or a range in CIDR notation',
});

const trustedProxy = z.strictObject({
  addresses: z
    .array(address)
    .describe(
      'Addresses or CIDR ranges whose X-Forwarded-For and header below are trusted. From others the certificate is ignored. An empty list means that there is no proxy: forwarding headers are ignored, and each address is one caller.',
    ),
  clientCertificateHeader: z
    .string()
    .regex(/^[A-Za-z0-9-]+$/, { error: 'must be the name of a header' })
    .default('X-Client-Certificate')
    .describe(
      "Header in which the proxy passes the client's certificate: URL-encoded PEM, SHA-256 in hex, or Envoy's format. It must drop one that the client sent.",
    ),
});

const receipt = section({
  timeoutSeconds: whole(1, 300, 60).describe(
    'How long a receipt stays on the phone before it lapses.',
  ),
});

/** `fetch` refuses a URL with credentials. */
const hasNoCredentials = (url: string): boolean => {
  // The URL check has reported it already.
  if (!URL.canParse(url)) return true;
  const { username, password } = new URL(url);
  return username === '' && password === '';
};

const otp = section({
  gateway: z
    .discriminatedUnion('kind', [
      z.strictObject({ kind: z.literal('outbox').describe('Messages are kept for the operator.') }),
      z.strictObject({
        kind: z.literal('webhook').describe('Messages are posted to an address.'),
        url: z
          .url({ protocol: /^https?$/, error: 'must be an http or https URL' })
          .refine(hasNoCredentials, { error: 'must not hold a user name or password' })
          .describe('Where messages are posted to.'),
      }),
    ])
    .prefault({ kind: 'outbox' })
    .describe('What sends text messages: an outbox that shows them to the operator, or a webhook.'),
});

const configurationObject = z.strictObject({
  $schema: z
    .string()
    .optional()
    .describe('Where editors find the JSON Schema of this file. The service ignores it.'),
  sandbox: flag(
    false,
    'Accept any AP_ID and serve the test users. True when there is no configuration file.',
  ),
  applicationProviders: applicationProviderList(shapeOf('applicationProvider'))
    .prefault([])
    .describe('Applications that may call.'),
  subscribers: subscriberList(devicesOfParts).prefault([]).describe('Mobile users.'),
  ...shapeOf('root'),
  protocol: protocol.describe('What requests may contain.'),
  retention: retention.describe('How long finished transactions are kept.'),
  workers: workers.describe('The processes that advance transactions.'),
  queue: queue.describe('Where transactions live in Redis.'),
  http: http.describe('Limits of the HTTP server.'),
  tls: tls
    .optional()
    .describe('Serve HTTPS directly. Without it: plain HTTP, for a proxy in front.'),
  trustedProxy: trustedProxy
    .optional()
    .describe(
      'The proxies in front, for limits and client certificates (docs/operations/proxies.md).',
    ),
  appScheme: z
    .string()
    .regex(/^[a-z][a-z0-9+.-]*$/, { error: 'must be a URI scheme' })
    .default('mobileid')
    .describe("Scheme of the app's URIs (app2app AuthUri)."),
  receipt: receipt.describe('Receipts after a signature.'),
  otp: otp.describe('One-time passwords.'),
  publicUrl: ownOrigin.describe(
    'Address of this server for browsers and clients, such as `https://sign.example.com`; http only on this machine or in a sandbox. Without it: HOST and PORT.',
  ),
  oidc: oidcSettings(shapeOf('oauthClient')).describe(
    'Logins for other applications (OpenID Connect).',
  ),
  operations: operationsSettings.describe('The people who run the service, and what they may do.'),
});

export const configurationSchema = configurationObject
  .superRefine((values, context) => {
    const { sandbox, publicUrl: url, protocol: bounds, oidc } = values;
    const refuse = (path: PropertyKey[], message: string): void =>
      context.addIssue({ code: 'custom', path, message });
    checkOpenid(values, refuse);
    if (url !== undefined && !sandbox && !isSecureAddress(url)) {
      refuse(['publicUrl'], 'must be https, unless it is this machine or a sandbox');
    }
    for (const { check } of partConfigurations) check?.(values, refuse);
    const problem = promptProblem(oidc, bounds);
    if (problem !== undefined) refuse(['oidc', problem[0]], problem[1]);
  })
  .transform(({ $schema: _forEditors, ...values }) => ({
    ...values,
    oidc: {
      ...values.oidc,
      promptSeconds: promptSecondsOf(values.oidc, values.protocol),
    },
    operations: {
      ...values.operations,
      openid: { ...values.operations.openid, tenant: openidTenantOf(values) },
    },
  }));

/** Every key is there, defaults filled in. */
export type Configuration = DeepReadonly<z.output<typeof configurationSchema>>;
