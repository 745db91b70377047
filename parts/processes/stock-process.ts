/**
 * The signature process as a workflow of the service: its charts, with a definition as input
 * (definition.ts) and effects by which applications and people hear of it.
 */

import { defineWorkflow, InputError, providedActivity } from '../../packages/engine/src/define.ts';
import { type EffectInHand, effect } from '../../packages/engine/src/effect.ts';
import {
  type ServiceWorkflow,
  type SignAsk,
  type SignResult,
  workflowDataSchema,
} from '../workflows/index.ts';
import {
  type Finishing,
  type Prepared,
  processMachine,
  processVersion,
  type Unprepared,
} from './charts/process.machine.ts';
import { type ProcessNotice, processEventSchema, type Tell } from './charts/process-actions.ts';
import type { ProcessContext } from './charts/process-progress.ts';
import {
  outputOfProcess,
  type ProcessReport,
  publishProcess,
  reasonOfProcess,
} from './charts/process-report.ts';
import { signerMachine } from './charts/signer.machine.ts';
import {
  type Completed,
  type Completion,
  type SignerNotice,
  signerEventSchema,
} from './charts/signer-contract.ts';
import {
  type DefinitionAddition,
  isEmpty,
  type Members,
  membersOf,
} from './definition/addition.ts';
import { checkDefinition, checkNumbers } from './definition/check-definition.ts';
import type { ProcessDefinition } from './definition/definition.ts';
import { planOf } from './definition/plan.ts';
import { processActivities, processName } from './names.ts';

/**
 * An effect of an instance. Carried out again, it has the same id. One of a later instance with the
 * same id has another.
 */
export interface EffectOf {
  readonly id: string;
  /** The address of the instance of a process or of one of its signers. */
  readonly address: string;
}

export interface ProcessEffects {
  notify(notice: SignerNotice, effect: EffectOf): Promise<void>;
  notifyProcess(notice: ProcessNotice, effect: EffectOf): Promise<void>;
  tell(tell: Tell, effect: EffectOf): Promise<void>;
}

/** `instance.data` of a process. */
export interface ProcessData {
  readonly apId: string;
  /** The input that the application sent. */
  readonly input: unknown;
}

/** An effect with an id that changes when the process runs again under its name. */
const effectFrom = ({ id, address, instance }: EffectInHand): EffectOf => ({
  id: `${id}/${instance.createdAt}`,
  address,
});

const usable = (
  input: unknown,
  now: number,
  addition: DefinitionAddition | undefined,
): ProcessDefinition => {
  const checked = checkDefinition(input, { now, isKnown: () => true, addition });
  if (checked.ok) return checked.definition;
  throw new InputError(checked.problem);
};

/**
 * Whether the service knows the numbers is not checked here: those with phones lie in Redis. The
 * API asks before (checkNumbers), and so does the worker before the first turn.
 *
 * @param options.effects Undefined in programs that run no turns.
 * @param options.addition Members of another part, and `check` by what it keeps (addition.ts).
 */
export const createProcessWorkflow = ({
  effects,
  addition,
  check,
}: {
  readonly effects?: ProcessEffects | undefined;
  readonly addition?: DefinitionAddition | undefined;
  readonly check?: ((apId: string, members: Members) => Promise<string | undefined>) | undefined;
} = {}): ServiceWorkflow => {
  const signer = signerMachine.provide({
    actors: {
      sign: providedActivity<SignAsk, SignResult>(processActivities.sign),
      complete: providedActivity<Completion, Completed>(processActivities.complete),
    },
    actions: {
      notify: effect((notice: SignerNotice, given) => effects?.notify(notice, effectFrom(given))),
    },
  });
  const workflow = defineWorkflow({
    name: processName,
    version: processVersion,
    chart: processMachine.provide({
      actors: {
        signer,
        attest: providedActivity<ProcessReport, string>(processActivities.attest),
        prepare: providedActivity<Unprepared, Prepared>(processActivities.prepare),
        finish: providedActivity<Finishing, Members>(processActivities.finish),
      },
      actions: {
        notifyProcess: effect((notice: ProcessNotice, given) =>
          effects?.notifyProcess(notice, effectFrom(given)),
        ),
        tell: effect((tell: Tell, given) => effects?.tell(tell, effectFrom(given))),
      },
    }),
    // The definition is checked once, when the instance begins: deadlines pass, numbers change.
    input: { parse: (data): ProcessData => workflowDataSchema.parse(data) as ProcessData },
    begin: ({ apId, input }: ProcessData, { id, at, addedAt }) =>
      planOf(usable(input, addedAt, addition), { apId, id }, at, addition),
    events: processEventSchema,
    childEvents: { signer: signerEventSchema },
    publish: publishProcess,
    reasonOf: reasonOfProcess,
    resultOf: ({ output }) => output,
  });
  return {
    ...workflow,
    checkInput: async (input, about) => {
      const problem = await checkNumbers(input, { ...about, addition });
      const members = addition && membersOf(addition, 'definition', Object(input));
      if (problem !== undefined || members === undefined || isEmpty(members)) return problem;
      return check?.(about.apId, members);
    },
    // A process that has failed rests in a state: the evidence of any is in its context.
    outputOf: (context) => outputOfProcess(context as ProcessContext),
    tellsEnd: true,
  };
};
