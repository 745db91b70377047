/**
 * A process whose evidence cannot be made, with the activity of the worker, by a clock that jumps.
 */
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fromPromise } from 'xstate';
import { z } from 'zod';
import { defineWorkflow, type Workflow } from '../../../../packages/engine/src/define.ts';
import { rehearse } from '../../../../packages/engine/src/rehearsal.ts';
import { testRedis } from '../../../../test/support/redis.ts';
import { type RunningRedis, startRedisServer } from '../../../../test/support/redis-server.ts';
import { processMachine, processVersion } from '../../charts/process.machine.ts';
import { processEventSchema } from '../../charts/process-actions.ts';
import { reasonOfProcess } from '../../charts/process-report.ts';
import { signerMachine } from '../../charts/signer.machine.ts';
import { createDefinitionSchema } from '../../definition/definition.ts';
import { planOf } from '../../definition/plan.ts';
import { createAttestActivity } from '../../evidence/attest-activity.ts';
import type { CreateEvidence } from '../../evidence/create-evidence.ts';

const connection = new Redis({ ...testRedis().connection, maxRetriesPerRequest: null });
afterAll(() => connection.disconnect());

const minuteMs = 60_000;

const definition = {
  text: 'I agree',
  steps: [{ name: 'one', signers: [{ name: 'Anna', msisdn: '+41700092501' }] }],
};

const processWith = (createEvidence: CreateEvidence): Workflow => {
  const sign = fromPromise(async () => ({ kind: 'signed', msspTransId: 'H', at: 1, attempt: 1 }));
  return defineWorkflow({
    name: 'process',
    version: processVersion,
    chart: processMachine.provide({
      actors: {
        signer: signerMachine.provide({ actors: { sign: sign as never } }),
        attest: createAttestActivity(createEvidence),
      },
    }),
    input: z.object({ input: z.unknown() }),
    begin: ({ input }, { at }) =>
      planOf(createDefinitionSchema().parse(input), { apId: 'mid://ap', id: 'p' }, at),
    events: processEventSchema,
    reasonOf: reasonOfProcess,
  });
};

it('is tried thirty times more, ten seconds apart, and is then ended by CANCEL', async () => {
  let tries = 0;
  const process = processWith(async () => {
    tries += 1;
    throw new Error('signatures[0]: another person has signed');
  });
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

describe('while its store takes no writes', () => {
  let server: RunningRedis;
  let full: Redis;
  beforeAll(async () => {
    server = await startRedisServer();
    full = server.client();
    await full.config('SET', 'maxmemory', '1');
  });
  afterAll(async () => {
    full?.disconnect();
    await server?.stop();
  });

  it('is tried again within two seconds, and no such try counts', async () => {
    const at: number[] = [];
    const process = processWith(async () => {
      at.push(performance.now());
      if (at.length === 5) await full.config('SET', 'maxmemory', '0');
      await full.set('written', 'x');
      return 'a.b.c';
    });
    const { instance } = await rehearse({
      connection,
      workflow: process,
      data: { apId: 'mid://ap', input: definition },
      limitMs: 20 * minuteMs,
    });
    const { value, context } = instance.record ?? {};
    expect({ value, context, tries: at.length }).toMatchObject({
      value: 'completed',
      context: { evidence: 'a.b.c' },
      tries: 5,
    });
    expect(context).not.toHaveProperty('attests');
  });
});
