/**
 * `paraph start`, `paraph api`, `paraph worker`: the product, whole or in parts.
 *
 * The parts meet in Redis, so a private one, which belongs to one process, is of no use to them.
 */
import type { Command } from 'commander';
import { createLogger } from '../logger.ts';
import { greet } from '../product/greeting.ts';
import { launch } from '../product/launch.ts';
import { type CliContext, environmentOf, UsageProblem } from './context.ts';

const start = async (context: CliContext): Promise<number> => {
  const launched = await launch(environmentOf(context), { api: true, workers: true });
  context.stdout.write(greet(launched));
  return launched.stopped;
};

const serve = async (context: CliContext, part: 'api' | 'worker'): Promise<number> => {
  const environment = environmentOf(context);
  if (environment.redisUrl === undefined) {
    throw new UsageProblem(
      `paraph ${part} needs REDIS_URL, the Redis that all processes of the service share; paraph start brings its own.`,
    );
  }
  const launched = await launch(environment, { api: part === 'api', workers: part === 'worker' });
  const logger = createLogger(environment.logLevel, context.stdout);
  logger.info({ part, ...(launched.url !== undefined && { url: launched.url }) }, 'ready');
  return launched.stopped;
};

/** @param stopped Gets the exit code when the product has stopped. */
export const addServe = (
  program: Command,
  context: CliContext,
  stopped: (exitCode: number) => void,
): void => {
  program
    .command('start')
    .description('start the whole product in one process')
    .action(async () => stopped(await start(context)));
  program
    .command('api')
    .description('start the HTTP side alone (needs REDIS_URL)')
    .action(async () => stopped(await serve(context, 'api')));
  program
    .command('worker')
    .description('start the workers alone (needs REDIS_URL)')
    .action(async () => stopped(await serve(context, 'worker')));
};
