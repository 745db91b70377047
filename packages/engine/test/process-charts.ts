/**
 * The process of the service as a workflow whose people are robots: what they do is in their text.
 */
import { fromPromise } from 'xstate';
import { processMachine } from '../../../parts/processes/charts/process.machine.ts';
import { processEventSchema } from '../../../parts/processes/charts/process-actions.ts';
import { reasonOfProcess } from '../../../parts/processes/charts/process-report.ts';
import { signerMachine } from '../../../parts/processes/charts/signer.machine.ts';
import type { SignAsk, SignResult } from '../../../parts/processes/charts/signer-contract.ts';
import { activity, defineWorkflow } from '../src/define.ts';

/** @param note Keeps a line: `<process> asks <text>`, in the order in which things happen. */
export const processWorkflow = (note: (line: string) => Promise<void>, now: () => number) => {
  const sign = activity<SignAsk, SignResult>(
    async ({ input: { text }, instance, token }) => {
      const [id = ''] = instance.id.split('.');
      await note(`${id} asks ${text}`);
      const fault = (code: number): SignResult => ({
        kind: 'failed',
        code,
        reason: 'R',
        detail: 'd',
        msspTransId: token,
      });
      if (text.startsWith('refuses')) return fault(401);
      // The run's number: only the first prompt of an instance is lost.
      if (text.startsWith('is late') && token.endsWith('/1')) return fault(208);
      if (text.startsWith('sleeps')) return new Promise(() => undefined);
      await note(`${id} signed ${text}`);
      return { kind: 'signed', msspTransId: token, at: now(), attempt: 1 };
    },
    { attempts: 3, backoffMs: 20 },
  );
  const tell = (what: string) => (given: unknown, params: unknown) => {
    const [id = ''] = (given as { instance: { id: string } }).instance.id.split('.');
    const { what: about = what, state = '' } = params as { what?: string; state?: string };
    return note(`${id} tells ${about} ${state}`.trim()) as never;
  };
  const chart = processMachine.provide({
    actors: {
      signer: signerMachine.provide({ actors: { sign }, actions: { notify: tell('notice') } }),
      attest: fromPromise(async ({ input }) =>
        JSON.stringify(input.signatures.map(({ key }) => key)),
      ),
    },
    actions: { notifyProcess: tell('notice'), tell: tell('compensation') },
  });
  return defineWorkflow({
    name: 'process',
    version: 1,
    chart,
    events: processEventSchema,
    reasonOf: reasonOfProcess,
  });
};
