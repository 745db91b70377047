/**
 * Ends with status 0 where the shell of npm's scripts knows `exec`: everywhere but on Windows.
 *
 * With it the shell becomes the program, so that npm's signals reach the program itself, and npm
 * waits for its end. Otherwise many shells stay between, and die of a signal at once: whoever has
 * ended npm, a container for example, would take that for the end of the service.
 */
process.exitCode = process.platform === 'win32' ? 1 : 0;
