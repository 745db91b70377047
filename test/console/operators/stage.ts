/** The operators' room on the run's Redis, with a clock that the test moves. */
import { randomBytes } from 'node:crypto';
import type { Redis } from 'ioredis';
import {
  type Audit,
  createAudit,
  type NewAuditEntry,
} from '../../../src/console/operators/audit.ts';
import type { Operator } from '../../../src/console/operators/operator.ts';
import { createOperators, type Operators } from '../../../src/console/operators/operators.ts';
import type { OperatorSettings } from '../../../src/console/operators/settings.ts';
import type { IssuedToken } from '../../../src/console/operators/tokens.ts';
import { createRateLimiter } from '../../../src/registry/rate-limiter.ts';

export const admin: Operator = { name: 'root', role: 'admin', via: 'cli' };
export const operator: Operator = { name: 'olga', role: 'operator', via: 'oidc' };
export const viewer: Operator = { name: 'vera', role: 'viewer', via: 'oidc' };

export const settings: OperatorSettings = {
  users: [],
  sessions: { idleSeconds: 1800, absoluteSeconds: 43_200 },
  logins: { perAddress: { requests: 1000, perSeconds: 60 } },
};

export interface Stage {
  readonly operators: Operators;
  readonly audit: Audit;
  readonly told: readonly Pick<NewAuditEntry, 'who' | 'via' | 'action' | 'target'>[];
  readonly serviceKey: Uint8Array;
  /** What the audit log holds, oldest first. */
  entries(): Promise<readonly NewAuditEntry[]>;
  wait(ms: number): void;
}

/** A token that must have been issued. */
export const tokenOf = (issued: IssuedToken): Extract<IssuedToken, { token: string }> => {
  if ('refused' in issued) throw new Error(`the token was refused: ${issued.refused}`);
  return issued;
};

/** Logs somebody in by a link that was made at Redis. */
export const logInAs = async (operators: Operators, name: string) => {
  const link = await operators.issueLinkFor(admin, name);
  const login = await operators.logInByLink(link?.secret ?? '', { caller: '192.0.2.7' });
  if (login.kind !== 'in') throw new Error(`the login was ${login.kind}`);
  return login;
};

export const startStage = (
  redis: Redis,
  prefix: string,
  changes: Partial<OperatorSettings> = {},
  serviceKey: Uint8Array = randomBytes(32),
): Stage => {
  let time = Date.now();
  const told: Stage['told'][number][] = [];
  const audit = createAudit({ redis, prefix, log: { audit: (entry) => void told.push(entry) } });
  const operators = createOperators({
    redis,
    prefix,
    serviceKey,
    now: () => time,
    settings: { ...settings, ...changes },
    limiter: createRateLimiter({ redis, prefix }),
    audit,
  });
  return {
    operators,
    audit,
    told,
    serviceKey,
    wait: (ms) => {
      time += ms;
    },
    entries: async () => {
      const page = await audit.read({ limit: 1000 });
      return [...(page?.entries ?? [])].reverse().map(({ id: _, at: __, ...entry }) => entry);
    },
  };
};
