/**
 * How the operators' commands reach a service: not over HTTP but at its Redis, with its configuration.
 *
 * Whoever may open that Redis may read and write everything in it, so there is nothing to log in to: they are an admin,
 * called `os:` and the name that the operating system has for them, which is nobody's name at the service. The audit log has it
 * with `via: cli`.
 */
import { userInfo } from 'node:os';
import type { Operator } from '../operators/operator.ts';
import { type CliContext, environmentOf, type Report, UsageProblem } from './context.ts';
import type { OperationsService } from './operations-service.ts';
import { silent, withServiceRedis } from './service-redis.ts';
import { usableConfiguration } from './usable-configuration.ts';

/** For one command. */
export interface OperationsSession extends OperationsService {
  readonly operator: Operator;
}

/** A user without an entry in the system's list of users, as containers have them, has only a number. */
const systemUser = (): string => {
  try {
    return userInfo().username.slice(0, 60);
  } catch {
    return `uid-${process.getuid?.() ?? 'unknown'}`;
  }
};

const commandLineOperator = (): Operator => ({ name: `os:${systemUser()}`, role: 'admin', via: 'cli' });

/** The connection gives up on a command that is not answered in time, with these words. */
const isOfConnection = (error: unknown): boolean =>
  error instanceof Error && /Command timed out|Connection is closed|max retries/i.test(error.message);

/** Somebody who asks the wrong way is told before Redis is looked for. */
export const needsIndex = ({ configuration }: OperationsService): void => {
  if (configuration.operations.index) return;
  throw new UsageProblem(
    'This configuration keeps no search index (operations.index), so nothing is listed.',
  );
};

export const withOperations = async (
  context: CliContext,
  work: (session: OperationsSession) => Promise<Report>,
): Promise<Report> => {
  const configuration = await usableConfiguration(environmentOf(context).configurationPath);
  return withServiceRedis(context, async (redis) => {
    const { openOperationsService } = await import('./operations-service.ts');
    try {
      const service = openOperationsService({ configuration, redis, now: context.now });
      try {
        return await work({ ...service, operator: commandLineOperator() });
      } finally {
        await service.close();
      }
    } catch (error) {
      if (isOfConnection(error)) return silent;
      throw error;
    }
  });
};
