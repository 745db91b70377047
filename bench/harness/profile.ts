/**
 * `BENCH_PROFILE=DIR npm run bench -- --only sign`: every process of the service and of the floors leaves a CPU profile in
 * DIR when it ends. Rates are lower then; what takes how much of the time is the same.
 */
import { resolve } from 'node:path';

/** Arguments for Node, before the program. */
export const profileArguments = (): readonly string[] => {
  const folder = process.env.BENCH_PROFILE;
  return folder ? ['--cpu-prof', `--cpu-prof-dir=${resolve(folder)}`] : [];
};
