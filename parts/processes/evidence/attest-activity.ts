/** The activity `attest` of a process. */
import type { PromiseActorLogic } from 'xstate';
import { activity } from '../../../packages/engine/src/define.ts';
import { ownIdOf } from '../../../src/transactions/jobs/instance-ids.ts';
import { onceRedisAnswers } from '../../workflows/index.ts';
import type { ProcessReport } from '../charts/process-report.ts';
import { processName } from '../names.ts';
import type { ProcessData } from '../stock-process.ts';
import type { CreateEvidence } from './create-evidence.ts';

/**
 * Makes the evidence of a process that has ended. One try: the chart repeats it, for five minutes
 * every ten seconds and then each hour, and lets CANCEL count between. While Redis is away or takes
 * no writes, the try goes on and does not count.
 */
export const createAttestActivity = (
  createEvidence: CreateEvidence,
): PromiseActorLogic<string, ProcessReport> =>
  activity<ProcessReport, string>(
    ({ input: report, instance: { id, data }, now, signal }) => {
      const ended = {
        report,
        id: ownIdOf(id, processName),
        name: processName,
        definition: (data as ProcessData).input,
        endedAt: now,
      };
      return onceRedisAnswers(() => createEvidence(ended), signal);
    },
    { turnWaitsMs: () => 200 },
  );
