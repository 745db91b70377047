/**
 * Signers' pages over a real engine and Redis: processes run, and the test answers their prompts in
 * place of phones.
 */
import { randomBytes } from 'node:crypto';
import { fromPromise } from 'xstate';
import { activity, defineWorkflow, later } from '../../../../packages/engine/src/define.ts';
import type { Instance } from '../../../../packages/engine/src/engine.ts';
import {
  addressOf,
  type ChildActor,
  pathOf,
  readAddress,
} from '../../../../packages/engine/src/record.ts';
import type { Stage } from '../../../../packages/engine/test/stage.ts';
import { createRateLimiter } from '../../../../src/registry/rate-limiter.ts';
import type { TestRedis } from '../../../../test/support/redis.ts';
import { type ProcessInput, processMachine, processVersion } from '../../charts/process.machine.ts';
import type { PlanStep } from '../../charts/process-plan.ts';
import { signerMachine } from '../../charts/signer.machine.ts';
import type {
  Person,
  SignAsk,
  SignerContext,
  SignerNotice,
  SignResult,
} from '../../charts/signer-contract.ts';
import { createTaskLinks, type Link } from '../../tasks/links.ts';
import { createSignerMails } from '../../tasks/signer-mail.ts';
import { createTaskRoutes } from '../../tasks/tasks.route.ts';
import { createTasks, findSigner, type Signer } from '../../tasks/tasks.ts';

export const origin = 'https://sign.example.com';
const apId = 'mid://insurance.example';
export const anna: Person = {
  name: 'Anna Muster',
  msisdn: '41791234501',
  text: 'Contract 4711: I agree',
  language: 'en',
};
export const beat: Person = { ...anna, name: 'Beat Beispiel', msisdn: '41791234502' };

export const stepOf = (
  name: string,
  people: readonly Person[],
  own: Partial<PlanStep> = {},
): PlanStep => ({
  name,
  signers: people.map((person, index) => ({ key: String(index + 1), person, substitutes: [] })),
  need: people.length,
  ask: 'page',
  remindMs: [],
  onRefusal: 'fail',
  onUnreached: 'wait',
  onDeadline: 'fail',
  ...own,
});

export type TaskStage = Awaited<ReturnType<typeof startTaskStage>>;

export const startTaskStage = async (
  redis: TestRedis,
  { engine, work, until, queue, redis: client }: Stage,
  mailing: Partial<Parameters<typeof createSignerMails>[0]> = {},
) => {
  const links = createTaskLinks(randomBytes(32));
  const prompts: { readonly input: SignAsk; readonly token: string }[] = [];
  /** Numbers of all prompts, in order. */
  const asked: string[] = [];
  const notices: SignerNotice[] = [];
  const mailed: string[] = [];
  const applicationName = (id: string): string => (id === apId ? 'Example Insurance' : id);
  const mails = createSignerMails({
    engine,
    processWorkflow: () => process,
    mailer: { send: () => Promise.reject(new Error('This test has no mail server')) },
    links,
    publicUrl: () => origin,
    applicationName,
    now: Date.now,
    log: {
      sent: (id) => mailed.push(`${id} sent`),
      refused: (id, code) => mailed.push(`${id} refused ${code}`),
    },
    ...mailing,
  });
  const process = defineWorkflow({
    name: 'process',
    version: processVersion,
    chart: processMachine.provide({
      actors: {
        attest: fromPromise(async () => 'a.b.c'),
        signer: signerMachine.provide({
          actors: {
            sign: activity<SignAsk, SignResult>(async ({ input, token }) => {
              prompts.push({ input, token });
              asked.push(input.msisdn);
              return later;
            }),
          },
          actions: {
            notify: (async (
              given: { effect: { id: string; address: string } },
              notice: SignerNotice,
            ) => {
              notices.push(notice);
              await mails.order(given.effect.address, given.effect.id, notice);
            }) as never,
          },
        }),
      },
    }),
  });
  await work([process, mails.workflow]);
  const tasks = createTasks({ engine, workflow: process, applicationName, now: Date.now });
  const { routes, endWaiting } = createTaskRoutes({
    tasks,
    links,
    frame: () => ({
      tenantName: 'Canton of Example',
      branding: { color: '#1f5fbf', logoSvg: undefined },
      path: '/oidc',
    }),
    publicUrl: () => origin,
    limiter: createRateLimiter({
      redis: client,
      prefix: `${redis.prefix}-${randomBytes(4).toString('hex')}`,
    }),
    addressOf: () => ({ caller: '192.0.2.1' }),
    body: { maxBytes: 65_536, timeoutMs: 2000 },
    now: Date.now,
    onError: (error) => {
      throw error;
    },
  });
  let processes = 0;

  /** @returns The id of the process. Its first step has begun. */
  const begin = async (
    steps: readonly PlanStep[],
    own: Partial<ProcessInput> = {},
  ): Promise<string> => {
    const id = own.id ?? `abcdefghijkl-process--p${processes++}`;
    const at = Date.now();
    await engine.start(process, id, {
      apId,
      id,
      title: 'Contract 4711',
      deadline: at + 86_400_000,
      steps,
      compensation: [],
      at,
      ...own,
    } satisfies ProcessInput);
    await until(id, ({ record }) => record?.children !== undefined);
    return id;
  };

  /** Signers that have not ended, by their addresses. */
  const signersIn = ({ id, record }: Instance): ReadonlyMap<string, SignerContext> =>
    new Map(
      Object.entries(record?.children ?? {}).map(([name, child]) => [
        addressOf(id, pathOf('', name)),
        (child as ChildActor).chart?.context as SignerContext,
      ]),
    );

  /** The address of a person of the current step. */
  const signerOf = async (id: string, name: string): Promise<string> => {
    const find = (instance: Instance) =>
      [...signersIn(instance)].find(([, { person }]) => person.name === name) ?? [];
    const [address = '', context] = find(await until(id, (instance) => find(instance).length > 0));
    versions.set(address, context?.linkVersion ?? 0);
    return address;
  };
  /** By the addresses that `signerOf` has found. */
  const versions = new Map<string, number>();
  /** @param revoked How often the links of the signer were revoked. */
  const tokenOf = (instance: string, revoked = 0): string =>
    links.tokenFor(linkOf(instance, revoked));
  const linkOf = (instance: string, revoked = 0): Link => ({
    instance,
    version: (versions.get(instance) ?? 0) + revoked,
  });
  /** Polls until the signer is as wanted. */
  const untilSigner = async (
    instance: string,
    wanted: (signer: Signer) => boolean,
  ): Promise<Signer> => {
    const limit = performance.now() + 50_000;
    for (;;) {
      const signer = await findSigner(engine, linkOf(instance));
      if (signer !== undefined && wanted(signer)) return signer;
      if (performance.now() > limit) throw new Error(`still ${JSON.stringify(signer)}`);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  };
  const untilRevoked = (instance: string): Promise<unknown> => {
    const version = (versions.get(instance) ?? 0) + 1;
    return until(
      readAddress(instance).id,
      (process) => signersIn(process).get(instance)?.linkVersion === version,
    );
  };

  const request = (path: string, init?: RequestInit): Promise<Response> =>
    Promise.resolve(routes.request(path, init));
  const bodyOf = async (answer: Promise<Response>): Promise<string> => (await answer).text();
  /** Presses a button of the page, as a browser sends it. */
  const press = async (
    token: string,
    name: 'sign' | 'decline',
    fields: Record<string, string> = {},
    headers: Record<string, string> = {},
  ): Promise<Response> => {
    const page = await bodyOf(request(`/tasks/${token}`));
    const csrf = /name="csrf" value="([^"]+)"/.exec(page)?.[1] ?? '';
    return request(`/tasks/${token}/${name}`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded', origin, ...headers },
      body: new URLSearchParams({ csrf, ...fields }).toString(),
    });
  };
  /** Events that the instance has kept from outside. */
  const sentTo = async (instance: string): Promise<number> =>
    (await client.hkeys(queue.toKey(readAddress(instance).id))).filter((field) =>
      field.startsWith('key:out/'),
    ).length;
  /** The prompt that the phone of this number shows. */
  const promptOf = async (
    msisdn: string,
  ): Promise<{ answer(result: SignResult): Promise<void> }> => {
    for (;;) {
      const found = prompts.findLast(({ input }) => input.msisdn === msisdn);
      if (found !== undefined) {
        prompts.splice(prompts.indexOf(found), 1);
        return { answer: async (output) => void (await engine.answer(found.token, { output })) };
      }
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  };
  return {
    begin,
    signerOf,
    tokenOf,
    linkOf,
    untilSigner,
    untilRevoked,
    request,
    bodyOf,
    press,
    promptOf,
    sentTo,
    until,
    engine,
    workflow: process,
    links,
    tasks,
    prompts,
    asked,
    notices,
    mailed,
    endWaiting,
    routes,
    orderMail: mails.order,
  };
};

export const hasEnded = ({ context }: Signer): boolean => context.end !== undefined;

export const signedNow = (): SignResult => ({
  kind: 'signed',
  msspTransId: 'h0001',
  at: Date.now(),
  attempt: 1,
});
export const failedWith = (code: number): SignResult => ({
  kind: 'failed',
  code,
  reason: 'SOME',
  detail: '',
  msspTransId: 'h0001',
});
