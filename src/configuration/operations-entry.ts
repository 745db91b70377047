import { z } from 'zod';
import { faultCodes } from '../protocol/fault.ts';
import { isLogin } from '../registry/login-ap-id.ts';
import { parseStoredPassword } from '../registry/passwords.ts';
import { operationsOpenid } from './operations-openid.ts';

/**
 * `operations`: the people who run the service, and what they may do.
 *
 * Users of the file cannot be changed while the service runs; others are added with `paraph users`. A user needs a way in.
 */
const allowance = (requests: number, perSeconds: number) =>
  z
    .strictObject({
      requests: z.int().min(1).max(1_000_000).default(requests).describe('How many at once.'),
      perSeconds: z
        .int()
        .min(1)
        .max(86_400)
        .default(perSeconds)
        .describe('Seconds in which that allowance refills, evenly.'),
    })
    .prefault({});

const reservedNames: readonly string[] = ['local', 'automatic', 'nobody'];

const operatorEntry = z
  .strictObject({
    name: z
      .string()
      .regex(/^[a-z0-9][a-z0-9._@-]{0,63}$/, {
        error: 'must be 1 to 64 lower-case letters, digits, ., _, @ or -, beginning with a letter or digit',
      })
      .refine((name) => !reservedNames.includes(name), { error: 'is a name that the service uses itself' })
      .describe('Name to log in with, also in the audit log.'),
    role: z
      .enum(['viewer', 'operator', 'admin'])
      .describe('What the user may do: each role includes the ones before it.'),
    passwordHash: z
      .string()
      .refine((hash) => parseStoredPassword(hash) !== undefined, {
        error: 'must be a stored password of the form $scrypt$ln=…,r=…,p=…$salt$hash',
      })
      .optional()
      .describe('Stored form of the password. Without it there is no login by password.'),
    oidcSubject: z
      .string()
      .min(1)
      .max(255)
      .optional()
      .describe(
        'Who the user is when logging in with the phone: `paraph users subject` prints it for a number. Without it there is no such login.',
      ),
  })
  .refine(({ passwordHash, oidcSubject }) => passwordHash !== undefined || oidcSubject !== undefined, {
    error: 'must have a passwordHash or an oidcSubject',
  });

const users = z.array(operatorEntry).superRefine((entries, context) => {
  const firstIndexes = new Map<string, number>();
  for (const [index, { name, oidcSubject }] of entries.entries()) {
    for (const [key, value] of [
      ['name', name],
      ['oidcSubject', oidcSubject],
    ] as const) {
      if (value === undefined) continue;
      const first = firstIndexes.get(`${key} ${value}`);
      if (first === undefined) firstIndexes.set(`${key} ${value}`, index);
      else {
        const message = `is the same as operations.users[${first}].${key}`;
        context.addIssue({ code: 'custom', path: [index, key], message });
      }
    }
  }
});

const sessions = z
  .strictObject({
    idleSeconds: z
      .int()
      .min(60)
      .max(86_400)
      .default(1800)
      .describe('A session that nobody uses for so long is over.'),
    absoluteSeconds: z
      .int()
      .min(60)
      .max(604_800)
      .default(43_200)
      .describe('However much it is used, a session ends then.'),
  })
  .prefault({});

const logins = z
  .strictObject({
    perAddress: allowance(20, 60).describe(
      'Failed tries to log in from one address; logins with the phone that begin there count, too.',
    ),
    perNameAndAddress: allowance(10, 300).describe(
      'Failed tries to log in with a password under one name from one address.',
    ),
    perName: allowance(100, 300).describe(
      'Failed tries to log in with a password under one name, from all addresses.',
    ),
  })
  .prefault({});

const replayRule = z.enum(['never', 'operator', 'operator-with-reason', 'admin']);

const replayPolicy = z
  .partialRecord(z.enum(faultCodes.map(String) as [string, ...string[]]), replayRule)
  .prefault({})
  .describe(
    'Who may replay what failed with a fault, by its code: `never`, `operator`, `operator-with-reason` or `admin`. What is left out keeps its rule of [operations/replay.md](operations/replay.md).',
  );

const automaticReplay = z.strictObject({
  apId: z
    .string()
    .min(1)
    .max(256)
    .refine((apId) => !isLogin(apId), { error: 'must not be that of logins, which are never replayed' })
    .describe('AP_ID of the application whose transactions are replayed.'),
  faults: z
    .array(z.literal([209, 900]))
    .min(1)
    .default([209, 900])
    .describe('Faults, of those that are the service’s own.'),
  maxAttempts: z.int().min(2).max(20).default(3).describe('Attempts in all, the first one included.'),
  backoffSeconds: z
    .number()
    .min(1)
    .max(86_400)
    .default(60)
    .describe('From the failure to the second attempt; twice as long before each further one.'),
  perSecond: z.number().min(0.01).max(1000).default(5).describe('Replays of this application in a second.'),
});

const replay = z
  .strictObject({
    policy: replayPolicy,
    automatic: z
      .array(automaticReplay)
      .prefault([])
      .describe(
        'Applications whose transactions are replayed by themselves when they failed by a fault of the service. Without an entry: never.',
      ),
  })
  .prefault({});

const tracing = z
  .strictObject({
    enabled: z
      .boolean()
      .default(false)
      .describe('Make spans. Where they go is the business of an SDK that is loaded with `--import`.'),
    serviceName: z.string().min(1).max(64).default('paraph').describe('Name of the tracer.'),
  })
  .prefault({});

export const operationsSettings = z
  .strictObject({
    users: users.prefault([]).describe('People who run the service.'),
    sessions: sessions.describe('Sessions of the console.'),
    logins: logins.describe('How often a login may be tried.'),
    openid: operationsOpenid.describe('Logins to the console with the phone.'),
    replay: replay.describe('Replays of failed transactions.'),
    metricsToken: z
      .string()
      .regex(/^[\x21-\x7e]{16,256}$/, {
        error: 'must be 16 to 256 printable ASCII characters without spaces',
      })
      .optional()
      .describe('Bearer token for `/metrics`. Without it only this machine is answered.'),
    metricsOpen: z
      .boolean()
      .default(false)
      .describe('Answer `/metrics` to whoever asks, when there is no token.'),
    workerMetricsPort: z
      .int()
      .min(1)
      .max(65_535)
      .optional()
      .describe(
        '`paraph worker` serves `/metrics`, `/livez` and `/readyz` there, on HOST. Without it: nowhere.',
      ),
    callbackHosts: z
      .array(z.string().regex(/^[a-z0-9.:-]+$/, { error: 'must be a host name or address in lower case' }))
      .prefault([])
      .describe('Hosts inside the own network to which callbacks may go all the same.'),
    tracing: tracing.describe('Traces by OpenTelemetry.'),
    index: z.boolean().default(true).describe('Keep the search index that the console and `paraph ls` read.'),
  })
  .refine(({ sessions: { idleSeconds, absoluteSeconds } }) => idleSeconds <= absoluteSeconds, {
    path: ['sessions', 'absoluteSeconds'],
    error: 'must not be less than idleSeconds',
  })
  .prefault({});
