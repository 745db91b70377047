/**
 * `paraph authority`: makes the certificate authority of a new service, and ends.
 *
 * It does what a start does before it serves: it waits for Redis, marks the store, makes the
 * authority where there is none, and notes in PARAPH_DATA that the master key is used. So it may
 * run again and again, and refuses when Redis has lost its data. Clusters run it as a job, and set
 * PARAPH_NEW_AUTHORITY=wait for the service itself, whose processes keep no directory.
 */
import { toError } from '../../packages/engine/src/redis/to-error.ts';
import {
  type AddCommand,
  type CliContext,
  environmentIn,
  ok,
  type Report,
  UsageError,
} from '../command-line/context.ts';
import { worksAt } from '../command-line/place.ts';
import { holdOutput } from '../telemetry/logger.ts';
import { failedStart } from './serve.command.ts';

const makeAuthority = async (context: CliContext): Promise<Report> => {
  const environment = environmentIn(context);
  if (environment.redisUrl === undefined) {
    throw new UsageError(
      'paraph authority needs REDIS_URL, the Redis of the service; paraph start makes the authority of its own.',
    );
  }
  const output = holdOutput(environment.logFormat, context.stderr);
  try {
    const { launch } = await import('../app/launch.ts');
    const launched = await launch(environment, { api: false, workers: false }, output);
    output.show();
    launched.stop();
    await launched.stopped;
    return launched.hadAuthority
      ? ok({ result: 'exists' }, 'The certificate authority exists.\n')
      : ok({ result: 'made' }, 'Made the certificate authority.\n');
  } catch (error) {
    output.drop();
    return failedStart(toError(error));
  }
};

export const addAuthority: AddCommand = (program, context, done) => {
  const command = program
    .command('authority')
    .description('make the certificate authority of a new service, once')
    .action(async () => done(await makeAuthority(context)));
  worksAt('redis', command);
};
