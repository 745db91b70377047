/** What the examples share: a worker on the Redis of `REDIS_URL`, and its end. */
import { openWorkflows, type Workflow, type Workflows } from '@paraph/engine';
import { Redis } from 'ioredis';

export const withEngine = async (
  workflows: readonly Workflow[],
  use: (engine: Workflows, id: string) => Promise<void>,
): Promise<void> => {
  const url = process.env.REDIS_URL ?? 'redis://127.0.0.1:6379';
  const connection = new Redis(url, { maxRetriesPerRequest: null });
  const engine = openWorkflows({ connection, onError: console.error });
  await engine.work({ workflows });
  try {
    await use(engine, `example-${Date.now()}`);
  } finally {
    await engine.close();
    connection.disconnect();
  }
};
