import type { IncomingMessage } from 'node:http';
import { createAdmission } from '../http/admission.ts';
import { createApp } from '../http/app.ts';
import { createEvidence } from '../http/client-certificate.ts';
import { createProfile } from '../http/profile.operation.ts';
import { createReceipt } from '../http/receipt.operation.ts';
import { createRefusal, type Refusal } from '../http/refusal.ts';
import { createSign } from '../http/sign.operation.ts';
import { createStatus } from '../http/status.operation.ts';
import { createHttpLog } from '../logger.ts';
import { createApp2App } from '../transactions/app2app.ts';
import { createBacklog } from '../transactions/backlog.ts';
import { createEndings, type Endings } from '../transactions/endings.ts';
import { createReceipts } from '../transactions/receipts.ts';
import { closeShards, openShards, type QueueAt, type Shard } from '../transactions/shards.ts';
import { createTransactions, type Transactions } from '../transactions/transactions.ts';
import type { Core } from './core.ts';

export interface ApiSide {
  readonly fetch: (
    request: Request,
    bindings?: { incoming?: IncomingMessage },
  ) => Response | Promise<Response>;
  /** For the server: whom it refuses for lack of room. */
  readonly refusal: Refusal;
  readonly transactions: Transactions;
  /** Answers everybody who waits for a transaction: it goes on, but they will not hear of it here. */
  endWaiting(): Promise<void>;
  close(): Promise<void>;
}

const readinessLifeMs = 10_000;

/** Opens everything that HTTP needs; nothing listens yet. */
export const openApiSide = async (core: Core): Promise<ApiSide> => {
  const { configuration, commands, blocking, protocol, subscribers, retention, masterKey, now, onError } =
    core;
  const { queue, http, appScheme, receipt, trustedProxy } = configuration;
  const shards = openShards({ redis: commands, prefix: queue.prefix, shards: queue.shards, onError });
  const endingsOf = (pick: (shard: Shard) => QueueAt): Promise<readonly Endings[]> =>
    Promise.all(
      shards.map((shard) =>
        createEndings({ redis: commands, blocking, at: pick(shard), prefix: shard.prefix, now, onError }),
      ),
    );
  const signatureEndings = await endingsOf(({ signatures }) => signatures);
  const receiptEndings = await endingsOf(({ receipts }) => receipts);
  const custody = core.custodyOver(commands);
  const providers = core.providersOver(commands);
  const transactions = createTransactions({
    shards,
    endings: signatureEndings,
    protocol,
    custody,
    retention,
    now,
  });
  const receipts = createReceipts({
    transactions,
    shards,
    endings: receiptEndings,
    timeoutSeconds: receipt.timeoutSeconds,
    now,
  });
  const maxBacklog = queue.maxWaiting * queue.shards;
  const backlog = await createBacklog({ shards, limit: maxBacklog, onError });
  const admission = createAdmission({
    maxInHand: http.maxInHand,
    maxWaitingCallers: http.maxWaitingCallers,
    maxBacklog,
    backlog,
    now,
    onRefused: (count, shortage) => core.logger.warn({ count, shortage }, 'requests refused'),
  });
  const common = { protocol, providers, subscribers, transactions, now };
  const app = createApp({
    protocol,
    operations: {
      sign: createSign({ ...common, app2app: createApp2App(masterKey, appScheme) }),
      status: createStatus(common),
      receipt: createReceipt({ ...common, receipts }),
      profile: createProfile({ ...common, custody, authorities: configuration.protocol.authorities }),
    },
    trust: () => custody.trust(),
    evidenceOf: createEvidence(trustedProxy),
    limits: { maxBytes: http.maxBodyBytes, timeoutMs: http.requestTimeoutSeconds * 1000 },
    admission,
    ready: async () => {
      // A write, because a replica or a full Redis answers a PING as cheerfully as any.
      await commands.set(`${queue.prefix}:readiness`, now(), 'PX', readinessLifeMs);
    },
    documentation: {
      rules: configuration.protocol,
      sandbox: configuration.sandbox,
      maxBodyBytes: http.maxBodyBytes,
      retention,
    },
    now,
    log: createHttpLog(core.logger, now),
  });
  const endWaiting = async (): Promise<void> => {
    await Promise.all([...signatureEndings, ...receiptEndings].map((endings) => endings.close()));
  };
  return {
    fetch: (request, bindings) => app.fetch(request, bindings ?? {}),
    refusal: createRefusal(admission, http.maxBodyBytes),
    transactions,
    endWaiting,
    close: async () => {
      await endWaiting();
      await backlog.close();
      await closeShards(shards);
    },
  };
};
