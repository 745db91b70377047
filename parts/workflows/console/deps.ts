/** The rooms of the core that the console shows, and the instances of workflows. */
import type { AdminApiDeps } from '../../../src/console/deps.ts';
import type { HostedConsole } from '../hosted.ts';
import type { Workflows } from '../instances/workflows.ts';

export interface WorkflowConsoleDeps extends AdminApiDeps {
  readonly workflows: Workflows;
  /** Whether the instances of a workflow have no page. */
  readonly isHidden: (name: string) => boolean;
  readonly hosted: readonly HostedConsole[];
}
