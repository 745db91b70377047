/**
 * `npm test` and `npm run e2e`: set-up, then vitest with whatever arguments were given (`npm test
 * -- test/http`).
 *
 * `npm test` runs the project `unit`. With `--e2e` as the first argument, as in `npm run e2e`, the
 * projects are `e2e` and `browser`. A `--project` among the arguments takes the place of these.
 *
 * The last line of the output is `N passed, N failed, N skipped`; the exit status is vitest's.
 */
import './node-version.mjs';

import('./setup.mjs').then((setup) =>
  setup.runScript(async () => {
    await setup.ensurePackages();
    // Some tests start the compiled program, or threads of it.
    await setup.ensureBuilt();
    await setup.ensureRedis(process.env.PARAPH_TEST_REDIS);
    const { findChromium } = await import('./chromium.mjs');
    const { run } = await import('./run.mjs');

    const isE2e = process.argv[2] === '--e2e';
    const given = process.argv.slice(isE2e ? 3 : 2);
    const usual = isE2e ? ['--project', 'e2e', '--project', 'browser'] : ['--project', 'unit'];
    const isChosen = given.some((argument) => /^--project(=|$)/.test(argument));
    if (isE2e && !isChosen) {
      const chromium = findChromium();
      setup.say(
        chromium
          ? `browser tests run with ${chromium}`
          : 'browser tests are left out: no Chromium found (apt-get install chromium, or set CHROMIUM_PATH)',
      );
    }
    const { status } = await run(
      process.execPath,
      [setup.tool('vitest/vitest.mjs'), 'run', ...(isChosen ? [] : usual), ...given],
      { cwd: setup.project },
    );
    process.exitCode = status;
  }),
);
