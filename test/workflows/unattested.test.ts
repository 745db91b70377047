/** A process whose evidence cannot be made, with the activity of the worker, by a clock that jumps. */
import { Redis } from 'ioredis';
import { afterAll, expect, it } from 'vitest';
import { fromPromise } from 'xstate';
import { z } from 'zod';
import { processMachine, processVersion } from '../../machines/process.machine.ts';
import { processEventSchema } from '../../machines/process-actions.ts';
import { reasonOfProcess } from '../../machines/process-report.ts';
import { signerMachine } from '../../machines/signer.machine.ts';
import { defineWorkflow } from '../../packages/engine/src/define.ts';
import { rehearse } from '../../packages/engine/src/rehearsal.ts';
import { definitionSchema } from '../../src/workflows/definition.ts';
import { planOf } from '../../src/workflows/plan.ts';
import { createAttestActivity } from '../../workers/workflow.worker.ts';
import { testRedis } from '../support/redis.ts';

const connection = new Redis({ ...testRedis().connection, maxRetriesPerRequest: null });
afterAll(() => connection.disconnect());

const minuteMs = 60_000;

it('is tried thirty times more, ten seconds apart, and is then ended by CANCEL', async () => {
  let tries = 0;
  const attest = createAttestActivity(async () => {
    tries += 1;
    throw new Error('signatures[0]: another person has signed');
  });
  const sign = fromPromise(async () => ({ kind: 'signed', msspTransId: 'H', at: 1, attempt: 1 }));
  const process = defineWorkflow({
    name: 'process',
    version: processVersion,
    chart: processMachine.provide({
      actors: { signer: signerMachine.provide({ actors: { sign: sign as never } }), attest },
    }),
    input: z.object({ input: z.unknown() }),
    begin: ({ input }, { at }) => planOf(definitionSchema.parse(input), { apId: 'mid://ap', id: 'p' }, at),
    events: processEventSchema,
    reasonOf: reasonOfProcess,
  });
  const definition = {
    text: 'I agree',
    steps: [{ name: 'one', signers: [{ name: 'Anna', msisdn: '+41700092501' }] }],
  };
  const { how, instance, notes } = await rehearse({
    connection,
    workflow: process,
    data: { apId: 'mid://ap', input: definition },
    events: [
      { afterMs: 4 * minuteMs, send: { type: 'CANCEL', by: 'operator' } as { type: string } },
      { afterMs: 2 * minuteMs, send: { type: 'CANCEL', by: 'operator' } as { type: string } },
    ],
    limitMs: 20 * minuteMs,
  });
  const cancelled = notes.flatMap((note) => (note.kind === 'event' ? [note.result] : []));
  expect({ tries, cancelled, how, value: instance.record?.value }).toEqual({
    tries: 31,
    cancelled: ['refused', 'taken'],
    how: 'ended',
    value: 'completed',
  });
});
