/**
 * `npm start`: a fresh clone becomes a running Paraph.
 *
 * The program is imported into this process, so that signals reach it. With some shells a `sh`
 * stands between npm and this process, and dies of SIGTERM without passing it on. package.json says
 * `exec node …` against that; where this is not honoured, losing the parent counts as SIGTERM. Only
 * under npm: a start in the background may outlive its shell.
 */
import './node-version.mjs';

if (process.env.npm_lifecycle_event === 'start') {
  const parent = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(watch);
    process.kill(process.pid, 'SIGTERM');
  }, 250);
  watch.unref();
}

import('./setup.mjs').then((setup) =>
  setup.runScript(async () => {
    await setup.ensurePackages();
    await setup.ensureBuilt();
    await setup.ensureRedis(process.env.REDIS_URL);
    process.argv.splice(2, Number.POSITIVE_INFINITY, 'start');
    await import('../dist/src/cli/paraph.js');
  }),
);
