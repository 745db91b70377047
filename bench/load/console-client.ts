/** A person at the console's API, one request at a time. */
import { createAudit } from '../../src/console/operators/audit.ts';
import { createOperators } from '../../src/console/operators/operators.ts';
import type { RedisClient } from '../../src/redis/connect.ts';
import { createRateLimiter } from '../../src/registry/rate-limiter.ts';
import { serviceKeyOfThisRun } from '../harness/paraph.ts';

const name = 'bench';

/** Configuration of a service that has this person as a user. */
export const onlooker = { operations: { users: [{ name, role: 'operator' }] } } as const;

const makeLink = async (redis: RedisClient, prefix: string): Promise<string> => {
  const perAddress = { requests: 20, perSeconds: 60 };
  const { issueLinkFor } = createOperators({
    redis,
    prefix,
    serviceKey: serviceKeyOfThisRun,
    now: Date.now,
    settings: {
      ...onlooker.operations,
      sessions: { idleSeconds: 1800, absoluteSeconds: 43_200 },
      logins: { perAddress },
    },
    limiter: createRateLimiter({ redis, prefix }),
    audit: createAudit({ redis, prefix, log: { audit: () => undefined } }),
  });
  const issued = await issueLinkFor({ name: 'bench', role: 'admin', via: 'cli' }, name);
  return issued?.secret ?? '';
};

/** @returns What asks the API; it throws when the answer is anything but 200. */
export const logInAt = async (
  origin: string,
  redis: RedisClient,
  prefix: string,
): Promise<(path: string) => Promise<unknown>> => {
  const login = await fetch(`${origin}/admin/login/link`, {
    method: 'POST',
    body: new URLSearchParams({ token: await makeLink(redis, prefix) }),
    redirect: 'manual',
  });
  const cookie = login.headers.getSetCookie()[0]?.split(';')[0];
  if (login.status !== 303 || cookie === undefined)
    throw new Error(`The login was answered ${login.status}`);
  return async (path) => {
    const answer = await fetch(`${origin}${path}`, { headers: { cookie } });
    if (answer.status !== 200)
      throw new Error(`${path.split('?')[0]} was answered ${answer.status}`);
    return answer.json();
  };
};
