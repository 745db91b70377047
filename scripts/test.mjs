/**
 * `npm test`: set-up, then vitest with whatever arguments were given (`npm test -- test/http`).
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

    const chromium = findChromium();
    const chosen = process.argv.includes('--project') ? [] : ['--project', 'unit', '--project', 'browser'];
    if (chosen.length > 0) {
      setup.say(
        chromium
          ? `browser tests run with ${chromium}`
          : 'browser tests are left out: no Chromium found (apt-get install chromium, or set CHROMIUM_PATH)',
      );
    }
    const { status } = await run(
      process.execPath,
      [setup.tool('vitest/vitest.mjs'), 'run', ...chosen, ...process.argv.slice(2)],
      { cwd: setup.project },
    );
    process.exitCode = status;
  }),
);
