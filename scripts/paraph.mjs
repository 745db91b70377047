#!/usr/bin/env node
/**
 * The `paraph` command of a clone: brings the clone up to date as `npm start` does, then runs
 * dist/src/cli/paraph.js, as the container image does. Only `paraph start` needs a Redis of its own.
 */
import './node-version.mjs';

import('./setup.mjs').then((setup) =>
  setup.runScript(async () => {
    // A compiled clone is taken as it is, also where the development packages were removed.
    if (!setup.isBuilt()) {
      await setup.ensurePackages();
      await setup.ensureBuilt();
    }
    if (process.argv[2] === 'start') await setup.ensureRedis(process.env.REDIS_URL);
    await import('../dist/src/cli/paraph.js');
  }),
);
