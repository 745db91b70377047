/**
 * The rooms of the service in the process of a command. They are most of the program, and imported
 * when they are used.
 */
import type { CliContext, Report, WithLocalApi } from '../command-line/context.ts';
import { usableConfiguration } from './configuration-file.ts';
import type { OperationsSession } from './local-api.ts';
import { withServiceRedis } from './service-redis.ts';

/**
 * @param work Gets the service's rooms, and what opens more of them.
 * @param files Whether parts read the files that the configuration names.
 */
export const withOperations = async (
  context: CliContext,
  work: (session: OperationsSession, local: typeof import('./local-api.ts')) => Promise<Report>,
  files = false,
): Promise<Report> => {
  const configuration = await usableConfiguration(context);
  return withServiceRedis(context, async (redis) => {
    const local = await import('./local-api.ts');
    const session = await local.openSession(context, configuration, redis, files);
    try {
      return await work(session, local);
    } finally {
      await session.close();
    }
  });
};

export const withLocalApi: WithLocalApi = (context, needs, work) =>
  withOperations(
    context,
    async (session, { openLocalApi }) =>
      work({ indexed: session.indexed, send: await openLocalApi(context, session, needs) }),
    needs.files,
  );
