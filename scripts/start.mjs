/**
 * `npm start`: a fresh clone becomes a running Paraph, in this process, so that signals reach it.
 */
import './node-version.mjs';

import('./setup.mjs').then((setup) =>
  setup.runScript(async () => {
    setup.stopWithNpm();
    await setup.ensurePackages();
    await setup.ensureBuilt();
    await setup.ensureRedis(process.env.REDIS_URL);
    process.argv.splice(2, Number.POSITIVE_INFINITY, 'start');
    await import('../dist/src/cli/paraph.js');
  }),
);
