/** Each mutant of the fault test can be made of the product as it is compiled now. */
import { join } from 'node:path';
import { transform } from 'esbuild';
import { expect, it } from 'vitest';
import { breakFile, type MutantName, mutants } from './focus.ts';

const dist = join(import.meta.dirname, '../../dist');

it.each(Object.keys(mutants) as MutantName[])(
  '%s breaks the product, and leaves a program',
  async (name) => {
    const broken = breakFile(name, dist);
    await expect(transform(broken, { loader: 'js', format: 'esm' })).resolves.toMatchObject({
      warnings: [],
    });
  },
);
