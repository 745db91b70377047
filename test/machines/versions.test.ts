/**
 * A chart that open instances follow is not changed: they would go on in a chart that they did not begin in.
 *
 * Where this fails, leave the chart of the version as it is, in a file of its own that workers still get, and make the change in a new
 * version. As long as no release has had the version, put the new hash here instead.
 */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const released: Readonly<Record<string, string>> = {
  'bulk-replay.machine.ts': 'version 1, 783a9648ecc60bcb',
  'callback.machine.ts': 'version 1, ab22c06d71a71006',
  'ping.machine.ts': 'version 1, 8035cdbd3f8633a4',
  'process.machine.ts': 'version 1, 5f02bcfe185d214b',
  'signer.machine.ts': 'version 1, 6a523135438a4caa',
  'receipt.machine.ts': 'version 1, 21d0a9667da490a0',
  'signature.machine.ts': 'version 1, 2289d2c40bf857d4',
};

const folder = join(import.meta.dirname, '../../machines');

/** What the chart is computed with. */
const partsOf: Readonly<Record<string, readonly string[]>> = {
  'process.machine.ts': ['process-actions.ts', 'process-plan.ts', 'process-progress.ts'],
  'signer.machine.ts': ['allowed-hours.ts'],
};

/** The program without its comments and its layout. */
const programIn = (text: string): string => text.replaceAll(/\/\*.*?\*\/|\s\/\/[^\n]*|\s+/gs, '');

it('charts are those that their versions name', () => {
  const charts = readdirSync(folder).filter((name) => name.endsWith('.machine.ts'));
  const found = charts.map((name) => {
    const texts = [name, ...(partsOf[name] ?? [])].map((part) => readFileSync(join(folder, part), 'utf8'));
    const program = programIn(texts.join('\n'));
    const version = /Version=(\d+);/.exec(program)?.[1] ?? 1;
    const hash = createHash('sha256').update(program).digest('hex').slice(0, 16);
    return [name, `version ${version}, ${hash}`];
  });
  expect(Object.fromEntries(found)).toEqual(released);
});
