/** What breaks a rule about order or loss is found on a busy machine, too: `.ci/run` has these. */
import { testMutants } from './catch-mutants.ts';

testMutants([
  ['fence', { 'no-fence': 'history is a path of the machine' }],
  ['callbacks', { 'position-first': 'every end is told' }],
  ['bulks', { 'begun-forgotten': 'a bulk does all that is listed' }],
]);
