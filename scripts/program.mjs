/**
 * `npm run bench`, `npm run faults` and their like: set-up, then one of the project's own programs.
 *
 * node scripts/program.mjs <file.ts> [arguments]
 *
 * What these programs measure or torment is the product as users run it, so it is compiled first;
 * the programs themselves run from their source.
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
