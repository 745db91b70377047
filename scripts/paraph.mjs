#!/usr/bin/env node
/**
 * The `paraph` command of a clone. An installation without sources (the container image) runs dist/src/cli/paraph.js.
 *
 * It brings the clone up to date as `npm start` does, so that the first command a newcomer types works, and a developer
 * never runs what was compiled before the last edit. What that prints goes to stderr. It fetches no Redis: most commands talk to a
 * Paraph that runs.
 */
import './node-version.mjs';

import('./setup.mjs').then((setup) =>
  setup.runScript(async () => {
    // A compiled clone is taken as it is, also where the development packages were removed.
    if (!setup.isBuilt()) {
      await setup.ensurePackages();
      await setup.ensureBuilt();
    }
    await import('../dist/src/cli/paraph.js');
  }),
);
