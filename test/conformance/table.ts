/**
 * The conformance table, read from the Markdown of this folder: each rule of the interface
 * (interface.md) and each wire fact (wire.md) in one line, with the tests that hold it. Tests that
 * many rows name have a short name in shared-tests.md.
 *
 * A cell holds no `|`, and a test's title no backtick; nothing else is special. A title is the one
 * that is written in the source, so that of `it.each` has its `%s`.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

interface Row {
  /** Stable: other texts refer to it. */
  readonly id: string;
  /** Where the row stands, in the form in which ids begin: `interface-4.1`, `wire-test-users`. */
  readonly section: string;
  readonly rule: string;
  /** `test/http/sign.test.ts › in synch mode > a failed signature is …`; a short name as it is. */
  readonly tests: readonly string[];
}

const isHeading = (line: string) => line.startsWith('## ');

/** The lines below the headings of a file, each with the heading above it and its cells. */
const readTable = (file: string): readonly { heading: string; cells: readonly string[] }[] => {
  const lines = readFileSync(join(import.meta.dirname, file), 'utf8').split('\n');
  let heading = '';
  return lines.slice(lines.findIndex((line) => /^(## |\|)/.test(line))).flatMap((line) => {
    if (isHeading(line)) heading = line.slice(3);
    if (isHeading(line) || line === '' || /^\| (id|name) \||^\|---/.test(line)) return [];
    const [, row] = /^\| ([^|]+(?: \| [^|]+)*) \|$/.exec(line) ?? [];
    if (row === undefined) throw new Error(`${file}: no row of a table: ${line}`);
    return [{ heading, cells: row.split(' | ') }];
  });
};

/** Short name and test of each line of shared-tests.md. */
export const sharedTests = readTable('shared-tests.md').map(
  ({ cells: [name = '', test = ''] }) => [name, test.replaceAll('`', '')] as const,
);
const testOf = new Map<string, string>(sharedTests);

const rowsOf = (document: 'interface' | 'wire'): readonly Row[] =>
  readTable(`${document}.md`).map(
    ({ heading, cells: [id = '', rule = '', tests = '', ...more] }) => {
      const named = tests.match(/`[^`]+`|[^`,\s]+/g) ?? [];
      if (more.length > 0 || named.join(', ') !== tests)
        throw new Error(`${document}.md: the tests of ${id} are no list`);
      const [, number = heading.toLowerCase().replaceAll(' ', '-')] =
        /^([\d.]+) /.exec(heading) ?? [];
      const fullName = (name: string) =>
        name.startsWith('`') ? name.slice(1, -1) : (testOf.get(name) ?? name);
      return { id, section: `${document}-${number}`, rule, tests: named.map(fullName) };
    },
  );

export const conformanceTable: readonly Row[] = [...rowsOf('interface'), ...rowsOf('wire')];
