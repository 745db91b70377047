/** The rooms of the core that the console shows, and the instances of workflows. */
import type { AdminApiDeps } from '../../../src/console/deps.ts';
import type { Workflows } from '../workflows/workflows.ts';

export interface WorkflowConsoleDeps extends AdminApiDeps {
  readonly workflows: Workflows;
}
