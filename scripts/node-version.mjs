/**
 * Ends with one sentence on a Node that is too old.
 *
 * Every script imports this first and the rest dynamically, because a module that uses newer syntax
 * would fail to parse, with a syntax error for a message, before any check could run. So nothing
 * newer than 2019 may stand in this file.
 */
var required = [20, 19];
var found = process.versions.node.split('.').map(Number);

if (found[0] < required[0] || (found[0] === required[0] && found[1] < required[1])) {
  process.stderr.write(
    'Paraph needs Node ' +
      required.join('.') +
      ' or newer; this is ' +
      process.versions.node +
      ' (' +
      process.execPath +
      ').\n',
  );
  process.exit(1);
}
