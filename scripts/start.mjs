/**
 * `npm start`: a fresh clone becomes a running Paraph.
 *
 * The program is imported into this process and not started as a child: there is then no one in
 * between who would have to hand on signals, and Ctrl-C or `kill` reach the code that knows how to
 * stop.
 *
 * Above this process stands npm, and with some shells a `sh` between the two, which dies of the
 * SIGTERM that npm hands on without a word to its child. package.json says `exec node …` against
 * that; where this is not honoured, losing the parent is taken for the SIGTERM that it should have
 * passed on. Only under npm: a start in the background may outlive its shell.
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
    await import('../dist/src/main.js');
  }),
);
