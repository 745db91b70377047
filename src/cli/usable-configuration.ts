import { loadConfiguration } from '../configuration/load.ts';
import type { Configuration } from '../configuration/schema.ts';
import { UsageProblem } from './context.ts';

/** @throws UsageProblem When it is not usable; what is wrong is for another command to say. */
export const usableConfiguration = async (path: string | undefined): Promise<Configuration> => {
  const loaded = await loadConfiguration(path);
  if (!loaded.ok) throw new UsageProblem('The configuration is not usable: see paraph config check.');
  return loaded.value;
};
