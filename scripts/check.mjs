/**
 * `npm run check`: everything that must hold before a commit, cheapest first; stops at the first
 * that does not.
 *
 * `--no-tests` leaves the tests out.
 */
import './node-version.mjs';

import('./setup.mjs').then((setup) =>
  setup.runScript(async () => {
    await setup.ensurePackages();
    const { run } = await import('./run.mjs');

    const node = async (/** @type {string[]} */ ...nodeArguments) => {
      const { status } = await run(process.execPath, nodeArguments, { cwd: setup.project });
      return status === 0;
    };
    const upToDate = (/** @type {string} */ generator) =>
      node(setup.tool('tsx/dist/cli.mjs'), `scripts/${generator}`, '--check');
    const steps = [
      {
        name: 'format and lint (biome)',
        run: () => node(setup.tool('@biomejs/biome/bin/biome'), 'ci'),
      },
      {
        name: 'types (tsc)',
        run: () => node(setup.tool('typescript/bin/tsc'), '-p', 'tsconfig.json'),
      },
      { name: 'unused code (knip)', run: () => node(setup.tool('knip/bin/knip.js')) },
      { name: 'packages (audit)', run: () => node('scripts/audit.mjs') },
      { name: 'OpenAPI drift', run: () => upToDate('openapi.ts') },
      { name: 'configuration documentation drift', run: () => upToDate('configuration-docs.ts') },
      { name: 'filter documentation drift', run: () => upToDate('filter-docs.ts') },
      { name: 'fault documentation drift', run: () => upToDate('fault-docs.ts') },
      { name: 'performance documentation drift', run: () => upToDate('performance-docs.ts') },
      { name: 'reliability documentation drift', run: () => upToDate('reliability-docs.ts') },
      { name: 'limits documentation drift', run: () => upToDate('limits-docs.ts') },
      { name: 'documentation site', run: () => node('scripts/site.mjs', '--build') },
      { name: 'build', run: () => setup.ensureBuilt().then(() => true) },
      ...(process.argv.includes('--no-tests')
        ? []
        : [{ name: 'unit tests', run: () => node('scripts/test.mjs') }]),
    ];
    for (const step of steps) {
      setup.say(`check: ${step.name}`);
      if (!(await step.run())) throw new setup.SetupProblem(`check failed at: ${step.name}`);
    }
    setup.say('check: all is well');
  }),
);
