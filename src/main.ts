/** The whole product in one process: what `npm start` runs. */

import { readEnvironment } from './environment.ts';
import { greet } from './product/greeting.ts';
import { launch } from './product/launch.ts';

try {
  const launched = await launch(readEnvironment(), { api: true, workers: true });
  process.stdout.write(greet(launched));
  // Whatever a library still waits for when Redis is gone must not keep the process.
  process.exit(await launched.stopped);
} catch (error) {
  process.stderr.write(
    // A start has many ways to fail, and its messages are written for the operator.
    `${error instanceof Error ? error.message : String(error)}\n`,
  );
  process.exitCode = 1;
}
