/**
 * `paraph start`, `paraph api`, `paraph worker`: the product, whole or in parts.
 *
 * The parts share a Redis, so they cannot use the private one of a single process. The product is
 * loaded only here: it is most of the program, and no other command needs it.
 */
import { toError } from '../../packages/engine/src/redis/to-error.ts';
import {
  type AddCommand,
  type CliContext,
  CommandEnd,
  environmentIn,
  interrupted,
  type Report,
  UsageError,
} from '../command-line/context.ts';
import type { Outcome } from '../command-line/exit-codes.ts';
import { worksAt } from '../command-line/place.ts';
import type { Environment } from '../environment/environment.ts';
import { createLogger, type HeldOutput, holdOutput } from '../telemetry/logger.ts';

const parts = {
  start: 'start the whole product in one process',
  api: 'start the HTTP side alone (needs REDIS_URL)',
  worker: 'start the workers alone (needs REDIS_URL)',
};
type Part = keyof typeof parts;

export const isPart = (name: string): name is Part => Object.hasOwn(parts, name);

const whenInterrupted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    const end = (): void => reject(interrupted('the service has not started'));
    if (signal.aborted) end();
    else signal.addEventListener('abort', end, { once: true });
  });

const runPart = async (
  context: CliContext,
  part: Part,
  environment: Environment,
  output: HeldOutput,
): Promise<number> => {
  const { launch } = await import('../app/launch.ts');
  const sides = { api: part !== 'worker', workers: part !== 'api' };
  const starting = launch(environment, sides, output);
  // From the end of the start on, the product handles signals itself.
  const launched = await Promise.race([starting, whenInterrupted(context.signal)]);
  output.show();
  if (part === 'start') {
    const { greet } = await import('../app/greeting.ts');
    context.stdout.write(greet(launched));
  } else {
    const logger = createLogger(environment.logLevel, context.stdout, environment.logFormat);
    logger.info({ part, ...(launched.url !== undefined && { url: launched.url }) }, 'ready');
  }
  return launched.stopped;
};

/** The messages of a failed start are written for the operator. */
export const failedStart = (error: Error): Report => ({
  outcome: 'outcome' in error ? (error.outcome as Outcome) : 'unexpected',
  document: {},
  problem: error.message,
});

/** @returns The exit code once the product has stopped, or the report of a failed start. */
const serve = async (context: CliContext, part: Part): Promise<number | Report> => {
  const environment = environmentIn(context);
  if (part !== 'start' && environment.redisUrl === undefined) {
    throw new UsageError(
      `paraph ${part} needs REDIS_URL, the Redis that all processes of the service share; paraph start brings its own.`,
    );
  }
  const output = holdOutput(environment.logFormat);
  try {
    return await runPart(context, part, environment, output);
  } catch (error) {
    output.drop();
    if (error instanceof CommandEnd) return error.report;
    return failedStart(toError(error));
  }
};

export const addServe: AddCommand = (program, context, done) => {
  for (const part of Object.keys(parts).filter(isPart)) {
    const command = program
      .command(part)
      .description(parts[part])
      .action(async () => done(await serve(context, part)));
    worksAt('service', command);
  }
};
