/** The project's folder, which is where every process of a benchmark is started. */
import { fileURLToPath } from 'node:url';

export const project = fileURLToPath(new URL('../..', import.meta.url));
