/**
 * The charts of a checkout's examples. What an example runs when it is loaded runs with the events
 * that it sends; each chart that it makes also takes a walk of random events.
 *
 * Charts of pages are run without the page. What a package would do that the checkout lacks is
 * nothing (vitest.config.ts).
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from './vitest-recorded.ts';

const checkout = process.env.FOREIGN_CHECKOUT ?? '';
const folder = process.env.FOREIGN_EXAMPLES ?? '';

/** Nothing of it may depend on a network. */
globalThis.fetch = async () => Response.json({ results: [], origin: 'nowhere' });

const sourcesOf = (example: string): readonly string[] =>
  readdirSync(join(checkout, folder, example), { recursive: true, encoding: 'utf8' })
    .filter(
      (name) => /\.tsx?$/.test(name) && !name.includes('node_modules') && !name.endsWith('.d.ts'),
    )
    .map((name) => join(checkout, folder, example, name))
    .toSorted();

const runsOrMakes = (pattern: RegExp) => (file: string) => pattern.test(readFileSync(file, 'utf8'));

const examples = readdirSync(join(checkout, folder), { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && !['node_modules', 'test'].includes(entry.name))
  .map(({ name }) => name);

let loads = 0;
for (const example of examples) {
  const sources = sourcesOf(example);
  const files = [
    ...sources
      .filter(runsOrMakes(/createActor\(|interpret\(/))
      .filter((file) => !file.endsWith('.tsx')),
    ...sources.filter(runsOrMakes(/createMachine[(<]/)),
  ];
  test(example, async () => {
    loads += 1;
    // With other addresses they are loaded anew.
    for (const file of new Set(files)) await import(/* @vite-ignore */ `${file}?load=${loads}`);
  });
}
