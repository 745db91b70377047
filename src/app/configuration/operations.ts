import { z } from 'zod';
import { faultCodes } from '../../../packages/protocol/src/fault.ts';
import { openidProvider } from '../../console/operators/provider-people.ts';
import {
  operatorLogins,
  operatorSessions,
  operatorUsers,
} from '../../console/operators/settings.ts';
import { consoleClientId } from '../../registry/console-client.ts';
import { flag, section } from '../../registry/entry.ts';
import { type AcrValue, acrValues, type oidcSettings } from '../../registry/oauth-client.ts';
import { shapeOf } from './parts.ts';

const replayRule = z.enum(['never', 'operator', 'operator-with-reason', 'admin']);

const replayPolicy = z
  .partialRecord(z.enum(faultCodes.map(String) as [string, ...string[]]), replayRule)
  .prefault({})
  .describe(
    'Who may replay, by fault code: `never`, `operator`, `operator-with-reason` or `admin`. Codes that are left out keep the rule of [operations/replay.md](operations/replay.md).',
  );

const replay = section({ policy: replayPolicy });

const linkTo = (member: string) =>
  z
    .string()
    .max(2048)
    .refine((url) => /^https?:\/\//.test(url) && URL.canParse(url) && url.includes(`{${member}}`), {
      error: `must be an http or https URL with {${member}}`,
    })
    .optional();

const links = section({
  log: linkTo('msspTransId').describe(
    'To the log lines of one transaction, such as `https://logs.example.com/?q={msspTransId}`.',
  ),
  trace: linkTo('traceId').describe(
    'To its trace, such as `https://traces.example.com/trace/{traceId}`.',
  ),
});

const tracing = section({
  enabled: flag(false, 'Make spans, for an SDK that is loaded with `--import`.'),
  serviceName: z.string().min(1).max(64).default('paraph').describe('Name of the tracer.'),
});

/** Operators must sign: a password by text message is not enough. */
const signed = acrValues.filter((value) => value !== 'mid_al2_any') as Exclude<
  AcrValue,
  'mid_al2_any'
>[];

const openid = section({
  enabled: flag(
    true,
    'Login to the console with the phone, when a user has an `oidcSubject` and in a sandbox.',
  ),
  tenant: z
    .string()
    .min(1)
    .optional()
    .describe('`id` of the tenant of all `oidcSubject`s. Without it: the first.'),
  acrValues: z
    .array(z.enum(signed))
    .min(1)
    .default(['mid_al4_any'])
    .describe('Levels of which the login must have one, best first.'),
});

export const operationsSettings = z
  .strictObject({
    users: operatorUsers.prefault([]).describe('People who run the service.'),
    sessions: operatorSessions.describe('Sessions of the console.'),
    logins: operatorLogins.describe('How often a login may be tried.'),
    openid: openid.describe('Logins to the console with the phone.'),
    openidProvider: openidProvider
      .optional()
      .describe(
        "Logins to the console at the OpenID provider of the operator's organisation ([operations/operators.md](operations/operators.md#at-the-provider-of-your-organisation)).",
      ),
    replay: replay.describe('Replays of failed transactions.'),
    metricsToken: z
      .string()
      .regex(/^[\x21-\x7e]{16,256}$/, {
        error: 'must be 16 to 256 printable ASCII characters without spaces',
      })
      .optional()
      .describe('Bearer token for `/metrics`. Without it only this machine is answered.'),
    metricsOpen: flag(false, 'Answer `/metrics` to everyone, when there is no token.'),
    workerMetricsPort: z
      .int()
      .min(1)
      .max(65_535)
      .optional()
      .describe('Where `paraph worker` serves `/metrics`, `/livez` and `/readyz`, on HOST.'),
    tracing: tracing.describe('Traces by OpenTelemetry.'),
    links: links.describe("Links of a transaction's page to the operator's own systems."),
    ...shapeOf('operations'),
    index: flag(true, 'Keep the search index that the console and `paraph ls` read.'),
  })
  .refine(({ sessions: { idleSeconds, absoluteSeconds } }) => idleSeconds <= absoluteSeconds, {
    path: ['sessions', 'absoluteSeconds'],
    error: 'must not be less than idleSeconds',
  })
  .prefault({});

interface Values {
  readonly oidc: Pick<z.output<ReturnType<typeof oidcSettings>>, 'tenants'>;
  readonly operations: z.output<typeof operationsSettings>;
}

/** The tenant at which users of the console log in. */
export const openidTenantOf = ({ oidc: { tenants }, operations }: Values): string =>
  operations.openid.tenant ?? tenants[0]?.id ?? '';

/** Checks `operations.openid` against the rest of the file. */
export const checkOpenid = (
  { oidc: { tenants }, operations }: Values,
  refuse: (path: PropertyKey[], message: string) => void,
): void => {
  const { tenant } = operations.openid;
  if (tenant !== undefined && tenants.every(({ id }) => id !== tenant)) {
    refuse(['operations', 'openid', 'tenant'], 'must be the id of one of oidc.tenants');
  }
  for (const [at, { clients }] of tenants.entries()) {
    const index = clients.findIndex(({ id }) => id === consoleClientId);
    if (index !== -1) {
      refuse(
        ['oidc', 'tenants', at, 'clients', index, 'id'],
        'is one that the service uses itself',
      );
    }
  }
};
