/**
 * `node scripts/program.mjs <file.ts> [arguments]`: `npm run bench` and the like. They measure the
 * compiled product, and run from their source.
 */
import './node-version.mjs';

import('./setup.mjs').then((setup) =>
  setup.runScript(async () => {
    const [file, ...programArguments] = process.argv.slice(2);
    if (file === undefined)
      throw new setup.SetupProblem('usage: node scripts/program.mjs <file.ts> [arguments]');
    await setup.ensurePackages();
    await setup.ensureBuilt();
    await setup.ensureRedis(undefined);
    const { run } = await import('./run.mjs');
    const { status } = await run(process.execPath, ['--import', 'tsx', file, ...programArguments], {
      cwd: setup.project,
    });
    process.exitCode = status;
  }),
);
