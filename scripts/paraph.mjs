#!/usr/bin/env node
/**
 * The `paraph` command of a clone. An installation without sources (the container image) runs
 * dist/src/cli/paraph.js.
 *
 * It brings the clone up to date as `npm start` does, so that the first command a newcomer types
 * works, and a developer never runs what was compiled before the last edit. What that prints goes
 * to stderr. Only `paraph start` needs a Redis of its own; the others talk to a Paraph or a Redis
 * that runs.
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
