/**
 * Ends with one sentence on a Node that is too old. Every script imports this first and the rest
 * dynamically, because newer syntax would fail to parse before the check. So this file uses no
 * syntax newer than 2019.
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
