/**
 * Fills the tables of docs/configuration.md from the schemas of environment and configuration file;
 * the prose around them is written by hand. With `--check` it compares.
 */
import { documentedEnvironment } from '../src/app/configuration/parts.ts';
import { configurationSchema } from '../src/app/configuration/schema.ts';
import { writeOrCheck } from './generated-file.ts';
import { fillTable, keyTable } from './key-table.ts';

const fill = (document: string): string =>
  fillTable(
    fillTable(document, 'environment', keyTable(documentedEnvironment)),
    'configuration',
    keyTable(configurationSchema),
  );

writeOrCheck([{ path: 'docs/configuration.md', make: fill }], {
  check: process.argv.includes('--check'),
  remedy: '`npm run docs`',
});
