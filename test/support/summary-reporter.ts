/**
 * Ends the output with one line that a script, or a person in a hurry, can read: `123 passed, 0
 * failed, 4 skipped`.
 *
 * The line agrees with the exit code: a file that could not be loaded and an error outside any test
 * count as one failure each, because vitest fails the run for them although no test failed.
 */
import type { Reporter } from 'vitest/node';

/** @param print  Gets the line when the process exits, after everything that vitest has to say. */
export function createSummaryReporter(print: (line: string) => void): Reporter {
  let line = '0 passed, 0 failed, 0 skipped';
  return {
    // Not before: a reporter that another one has replaced is made, and never used.
    onInit() {
      process.once('exit', () => print(line));
    },
    onTestRunEnd(testModules, unhandledErrors) {
      let passed = 0;
      let failed = unhandledErrors.length;
      let skipped = 0;
      for (const testModule of testModules) {
        const failedBefore = failed;
        for (const test of testModule.children.allTests()) {
          const { state } = test.result();
          if (state === 'passed') passed += 1;
          else if (state === 'failed') failed += 1;
          else skipped += 1;
        }
        if (!testModule.ok() && failed === failedBefore) failed += 1;
      }
      line = `${passed} passed, ${failed} failed, ${skipped} skipped`;
    },
  };
}
