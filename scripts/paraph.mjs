#!/usr/bin/env node
/**
 * The `paraph` command: runs dist/src/cli/paraph.js, as the container image does. A clone is first
 * brought up to date, as by `npm start`. Only `paraph start` and
 * `paraph workflow test` need a Redis of their own.
 */
import './node-version.mjs';

import('./setup.mjs').then((setup) =>
  setup.runScript(async () => {
    if (['start', 'api', 'worker'].includes(process.argv[2])) setup.stopWithNpm();
    // A compiled clone is taken as it is, also where the development packages were removed.
    if (!setup.isBuilt()) {
      await setup.ensurePackages();
      await setup.ensureBuilt();
    }
    const [, , command, part] = process.argv;
    if (
      ['start', 'backup', 'restore'].includes(command) ||
      (command === 'workflow' && part === 'test')
    )
      await setup.ensureRedis(process.env.REDIS_URL);
    await import('../dist/src/cli/paraph.js');
  }),
);
