/**
 * `npm run site`: builds the documentation site and serves it at http://127.0.0.1:4173.
 *
 * With `-- --build` it is only built, into `.cache/site`: static files that any path can serve.
 */
import './node-version.mjs';

import('./setup.mjs').then((setup) =>
  setup.runScript(async () => {
    await setup.ensurePackages();
    const { run } = await import('./run.mjs');
    const vitepress = (/** @type {string[]} */ ...words) =>
      run(process.execPath, [setup.tool('vitepress/bin/vitepress.js'), ...words], {
        cwd: setup.project,
      });
    const { status } = await vitepress('build', 'docs');
    process.exitCode = status;
    if (status !== 0 || process.argv.includes('--build')) return;
    setup.say('the documentation is at http://127.0.0.1:4173');
    process.exitCode = (
      await vitepress('preview', 'docs', '--host', '127.0.0.1', '--port', '4173')
    ).status;
  }),
);
