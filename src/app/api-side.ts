import { isRedisAway, toError } from '../../packages/engine/src/redis/to-error.ts';
import { productVersion } from '../environment/product-version.ts';
import { createApp } from '../http/app.ts';
import { createEvidence } from '../http/client-certificate.ts';
import { createHttpLog } from '../http/log.ts';
import { createOwnFetch } from '../http/own-fetch.ts';
import { createProfile } from '../http/profile.operation.ts';
import { createReceipt } from '../http/receipt.operation.ts';
import { createRefusal } from '../http/refusal.ts';
import type { ServiceRoutesOptions } from '../http/service.route.ts';
import { createSign } from '../http/sign.operation.ts';
import { createStatus } from '../http/status.operation.ts';
import { createClientAddress, createForwardingWatch } from '../http/trusted-proxy.ts';
import { createOauthLog } from '../oauth/log.ts';
import type { ApiPart } from '../part/opened.ts';
import { originOf } from '../registry/rate-limiter.ts';
import { observed } from '../telemetry/observed.ts';
import { createRedisProbe } from '../telemetry/redis-probe.ts';
import { createApp2App } from '../transactions/app2app.ts';
import { createBacklog, maxBacklogs } from '../transactions/backlog.ts';
import { shardPrefixes } from '../transactions/contract.ts';
import { createEndings, type Endings } from '../transactions/endings.ts';
import { createProcessReports, toleratedOffsetMs } from '../transactions/history/processes.ts';
import { createRefusals } from '../transactions/history/refusals.ts';
import { createReadEnd } from '../transactions/outcomes.ts';
import { createReceipts } from '../transactions/receipts.ts';
import { closeShards, type QueueAt, queuesIn, type Shard } from '../transactions/shards.ts';
import { watchStandstill } from '../transactions/standstill.ts';
import { createTransactions } from '../transactions/transactions.ts';
import { openAdmission } from './admission-side.ts';
import { type Closing, createClosing } from './closing.ts';
import { configurationJsonSchema } from './configuration/json-schema.ts';
import { openConsole } from './console-side.ts';
import type { Core } from './core.ts';
import { documentationFacts } from './documentation-facts.ts';
import { frameOf } from './names.ts';
import { openOauth } from './oauth-side.ts';
import { apiRooms, describeParts, openOauthParts } from './part-rooms.ts';
import {
  authorityCheck,
  backlogCheck,
  clockCheck,
  eventsCheck,
  keysCheck,
  memoryCheck,
  redisCheck,
  stoppingCheck,
} from './readiness.ts';

const openApiSideWith = async (core: Core, listensAt: () => string, { add, close }: Closing) => {
  const {
    configuration,
    commands,
    blocking,
    protocol,
    subscribers,
    retention,
    serviceKey,
    now,
    onError,
    telemetry,
  } = core;
  const { queue, http, appScheme, receipt, trustedProxy } = configuration;
  const described = await describeParts(core.parts);
  const additions = await openOauthParts(core);
  const shards = core.shardsOver(commands, telemetry.queue);
  add(() => closeShards(shards));
  telemetry.watchQueues({ redis: commands, queues: queuesIn(shards), now });
  const endingsOf = (pick: (shard: Shard) => QueueAt): readonly Endings[] =>
    shards.map((shard) =>
      createEndings({ redis: commands, blocking, at: pick(shard), now, onError }),
    );
  const signatureEndings = endingsOf(({ signatures }) => signatures);
  const receiptEndings = endingsOf(({ receipts }) => receipts);
  const endings = [...signatureEndings, ...receiptEndings];
  const endEndings = async (): Promise<void> => {
    await Promise.all(endings.map((each) => each.close()));
  };
  add(endEndings);
  const custody = core.custodyOver(commands);
  const providers = core.providersOver(commands);
  const transactions = createTransactions({
    shards,
    endings: signatureEndings,
    protocol,
    readEnd: createReadEnd({ custody, seals: core.seals, now, onError }),
    retention,
    now,
  });
  const receipts = createReceipts({
    providers,
    find: transactions.find,
    shards,
    endings: receiptEndings,
    timeoutSeconds: receipt.timeoutSeconds,
    now,
  });
  const maxBacklog = queue.maxWaiting * queue.shards;
  const maxBacklogInAll = maxBacklog * maxBacklogs;
  const backlog = await createBacklog({ shards, redis: commands, limit: maxBacklog, onError });
  add(backlog.close);
  const standstill = watchStandstill({
    redis: commands,
    shards,
    onStandstill: (shard, seconds) =>
      core.logger.error(
        { shard, seconds },
        'jobs wait and none is taken: does a worker run and reach Redis?',
      ),
    onError,
  });
  add(standstill.close);
  telemetry.watchStandstill(standstill.seconds);
  const refusals = createRefusals({
    sandbox: configuration.sandbox,
    redis: commands,
    prefix: queue.prefix,
    isRegistered: providers.isRegistered,
    now,
    onError,
  });
  add(refusals.close);
  const reports = createProcessReports({
    redis: blocking,
    prefix: queue.prefix,
    about: { part: 'api', version: productVersion() ?? 'unknown' },
    clock: core.clock,
    now,
    onError,
  });
  add(reports.close);
  const admission = openAdmission(core, {
    providers,
    refusals,
    backlog,
    maxBacklog,
    maxBacklogInAll,
  });
  const operationDeps = {
    protocol,
    providers,
    subscribers,
    transactions,
    receipts,
    app2app: createApp2App(serviceKey, appScheme),
    services: core.services,
    custody,
    authorities: configuration.protocol.authorities,
    now,
  };
  const addressOf = createClientAddress(trustedProxy);
  const proofOf = createEvidence(trustedProxy);
  const watchForwarding = createForwardingWatch({
    proxy: trustedProxy,
    now,
    tell: (address) =>
      core.logger.warn(
        { address },
        'this address forwards requests and is not trusted: if it is your proxy, name it in trustedProxy.addresses',
      ),
  });
  const limits = { maxBytes: http.maxBodyBytes, timeoutMs: http.requestTimeoutSeconds * 1000 };
  const publicUrl = (): string => configuration.publicUrl ?? listensAt();
  const oauthLog = telemetry.oauthLog(createOauthLog(core.eventLog));
  const oauth = openOauth(core, {
    transactions,
    custody,
    publicUrl,
    addressOf,
    limits,
    log: oauthLog,
    additions,
    busy: (apId) => admission.refuses('sign', apId),
    deviceStart: () => ofParts.find(({ deviceStart }) => deviceStart !== undefined)?.deviceStart,
  });
  add(oauth.close);
  let stopping = false;
  const evidenceOf: ServiceRoutesOptions['evidenceOf'] = (incoming) => ({
    ...proofOf(incoming),
    origin: () => originOf(addressOf(incoming)),
  });
  const httpLog = observed(telemetry.httpLog(createHttpLog(core.eventLog)), {
    answered: ({ apId, operation, fault = 0, refused }) => {
      if (refused !== undefined) refusals.note({ apId, operation, fault, detail: refused });
    },
  });
  const applications = { providers, admission, evidenceOf, limits, log: httpLog, now };
  const rooms = apiRooms(core, shards, {
    publicUrl,
    selfUrl: listensAt,
    addressOf,
    body: limits,
    answer: transactions.answer,
    frame: frameOf(oauth.tenants),
    joinLogin: oauth.join,
    applications,
    findOwn: transactions.findOwn,
  });
  const ofParts: ApiPart[] = [];
  const endParts = async (): Promise<void> => {
    await Promise.all(ofParts.map((part) => part.endWaiting?.()));
  };
  add(endParts);
  add(async () => {
    await Promise.all(ofParts.map((part) => part.close?.()));
  });
  for (const part of core.parts) {
    const opened = await part.openApi?.(rooms);
    if (opened !== undefined) ofParts.push(opened);
  }
  const console = await openConsole(core, {
    transactions,
    publicUrl,
    addressOf,
    tenants: oauth.tenants,
    ownFetch: createOwnFetch((request, bindings) => answer(request, bindings)),
  });
  add(console.close);
  const entrances = ofParts.flatMap(({ entrance }) => entrance ?? []);
  const app = createApp({
    more: [telemetry.routes, oauth.routes, console.routes, ...ofParts.map(({ routes }) => routes)],
    protocol,
    operations: {
      sign: createSign(operationDeps),
      status: createStatus(operationDeps),
      receipt: createReceipt(operationDeps),
      profile: createProfile(operationDeps),
    },
    trust: () => custody.trust(),
    evidenceOf,
    limits,
    admission,
    readiness: [
      stoppingCheck(() => stopping),
      redisCheck(
        createRedisProbe({
          redis: commands,
          prefix: queue.prefix,
          shardPrefixes: shardPrefixes(queue),
        }),
      ),
      authorityCheck(core.isAuthorityLost),
      memoryCheck(core.memory),
      clockCheck(core.clock, toleratedOffsetMs),
      ...core.keyPlace.checks,
      ...ofParts.flatMap(({ checks = [] }) => checks),
      eventsCheck(() => endings.every((each) => each.isConnected())),
      keysCheck(() => Promise.all(oauth.tenants.all.map((tenant) => tenant.provider()))),
      backlogCheck(backlog, maxBacklogInAll),
    ],
    documentation: {
      ...documentationFacts(configuration, described),
      entrances,
      configurationSchema: configurationJsonSchema,
    },
    now,
    log: httpLog,
  });
  const answer = telemetry.fetch((request, bindings) => {
    watchForwarding(bindings?.incoming);
    return app.fetch(request, bindings ?? {});
  });
  /** Makes `/readyz` say 503. Everything is served as before. */
  const leave = (): void => {
    stopping = true;
  };
  /** Answers all callers that wait for a transaction. The transactions go on. */
  const endWaiting = async (): Promise<void> => {
    leave();
    oauth.endWaiting();
    console.endWaiting();
    await endParts();
    await endEndings();
  };
  return {
    fetch: answer,
    /** Refuses requests before they are read, when there is no room. */
    refusal: createRefusal(admission, http.maxBodyBytes),
    transactions,
    oauth,
    /** Prepares the first request. Call it once the server listens. */
    prepare: async (): Promise<void> => {
      // Writes that fail now are made again at the first use.
      await oauth.prepare().catch((error: unknown) => {
        if (!isRedisAway(error)) throw error;
        onError(toError(error));
      });
      await console.noteAddress();
    },
    /** The address of a page of the console that logs its first visitor in. */
    consoleLink: console.issueLink,
    entrances,
    /** What parts tell the person who has started this service. */
    greetings: async (): Promise<readonly (readonly string[])[]> =>
      (await Promise.all(ofParts.map((part) => part.greet?.()))).flatMap((lines) =>
        lines === undefined ? [] : [lines],
      ),
    leave,
    endWaiting,
    close: async (): Promise<void> => {
      await endWaiting();
      await close();
    },
  };
};

/**
 * Makes the operations and pages of HTTP; nothing listens yet.
 *
 * @param listensAt Gives the address at which the server listens, once it does. It is the public
 *   address when none is configured.
 */
export const openApiSide = (core: Core, listensAt: () => string) => {
  const closing = createClosing();
  return closing.orClose(() => openApiSideWith(core, listensAt, closing));
};

export type ApiSide = Awaited<ReturnType<typeof openApiSide>>;
