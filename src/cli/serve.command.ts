/**
 * `paraph start`, `paraph api`, `paraph worker`: the product, whole or in parts.
 *
 * The parts meet in Redis, so a private one, which belongs to one process, is of no use to them.
 *
 * The product is loaded when it is started: it is most of the program, and all other commands do without it.
 */
import type { Environment } from '../environment.ts';
import { createLogger } from '../logger.ts';
import { type AddCommand, type CliContext, environmentOf, type Report, UsageProblem } from './context.ts';

const parts = {
  start: 'start the whole product in one process',
  api: 'start the HTTP side alone (needs REDIS_URL)',
  worker: 'start the workers alone (needs REDIS_URL)',
};
type Part = keyof typeof parts;

export const isPart = (name: string): name is Part => Object.hasOwn(parts, name);

const runPart = async (context: CliContext, part: Part, environment: Environment): Promise<number> => {
  const { launch } = await import('../product/launch.ts');
  const launched = await launch(environment, { api: part !== 'worker', workers: part !== 'api' });
  if (part === 'start') {
    const { greet } = await import('../product/greeting.ts');
    context.stdout.write(greet(launched));
  } else {
    const logger = createLogger(environment.logLevel, context.stdout);
    logger.info({ part, ...(launched.url !== undefined && { url: launched.url }) }, 'ready');
  }
  return launched.stopped;
};

/** @returns The exit code once the product has stopped, or why it could not be started. */
const serve = async (context: CliContext, part: Part): Promise<number | Report> => {
  const environment = environmentOf(context);
  if (part !== 'start' && environment.redisUrl === undefined) {
    throw new UsageProblem(
      `paraph ${part} needs REDIS_URL, the Redis that all processes of the service share; paraph start brings its own.`,
    );
  }
  try {
    return await runPart(context, part, environment);
  } catch (error) {
    // A start has many ways to fail, and its messages are written for the operator.
    const problem = error instanceof Error ? error.message : String(error);
    return { outcome: 'unexpected', document: {}, problem };
  }
};

export const addServe: AddCommand = (program, context, done) => {
  for (const part of Object.keys(parts).filter(isPart)) {
    program
      .command(part)
      .description(parts[part])
      .action(async () => done(await serve(context, part)));
  }
};
