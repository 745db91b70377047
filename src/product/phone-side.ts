/**
 * Phones in browsers: opens the device of the workers, the routes of the API, and the admin.
 */
import { hash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { createEngine } from '../../packages/engine/src/engine.ts';
import { createInstanceStore } from '../../packages/engine/src/redis/instance-store.ts';
import type { Configuration } from '../configuration/schema.ts';
import type { Oauth } from '../oauth/oauth.ts';
import { createPost } from '../outgoing/post.ts';
import { createActivations } from '../phone/activations.ts';
import { createConnections } from '../phone/connections.ts';
import { createEnrolment, keyOwnerOf } from '../phone/enrolment.ts';
import { createPasskeys } from '../phone/passkeys.ts';
import { createPhoneRoutes } from '../phone/phone.route.ts';
import { createPhoneAdmin, type PhoneAdminOptions } from '../phone/phone-admin.ts';
import { sandboxPhoneNumber } from '../phone/phone-subscribers.ts';
import { createPhones, type Phone, type Phones } from '../phone/phones.ts';
import { createPins } from '../phone/pins.ts';
import { createPush } from '../phone/push.ts';
import { createPhoneCookies } from '../phone/secrets.ts';
import { createShellRoutes } from '../phone/shell.route.ts';
import { createFailOpen, createSigning, toldTo } from '../phone/signing.ts';
import { createViews } from '../phone/views.ts';
import type { KeyCustody } from '../pki/ports.ts';
import type { RedisClient } from '../redis/connect.ts';
import type { Source } from '../registry/rate-limiter.ts';
import type { ConfiguredSubscribers } from '../registry/subscriber.ts';
import type { PhoneOptions } from '../sscd/phone.ts';
import { createPhonePrompts } from '../sscd/phone-prompts.ts';
import { type Answer, shardFor } from '../transactions/answers.ts';
import { receiptJobId } from '../transactions/contract.ts';
import type { Shard } from '../transactions/shards.ts';
import type { Core } from './core.ts';
import { frameOf, namesOf } from './signers.ts';

/** The options of the store of phones, in a process that has the service key. */
interface PhoneStoreOptions {
  readonly redis: RedisClient;
  readonly serviceKey: Uint8Array;
  readonly configuration: Configuration;
  readonly now: () => number;
}

const dayMs = 86_400_000;

const openPhoneStore = ({ redis, serviceKey, configuration, now }: PhoneStoreOptions) => {
  const common = { redis, prefix: configuration.queue.prefix, serviceKey, now };
  const phones = createPhones({ ...common, pinTries: configuration.phone.pinTries });
  return {
    phones,
    prompts: createPhonePrompts(common),
    activations: createActivations({ ...common, phones }),
  };
};

/** @returns Undefined where push is off. */
const openPush = ({ configuration, now, hostNow, onError }: Core, phones: Phones) => {
  const { push: vapid } = configuration.phone;
  if (vapid === undefined) return undefined;
  // Browsers name these addresses, so no host of the operator's network is allowed.
  const post = createPost({ allowedHosts: [], sandbox: configuration.sandbox, now: hostNow });
  return createPush({ vapid, phones, post, now, onError });
};

/** Opens the device by which workers send prompts to phones. */
export const openPhoneDevice = (
  core: Core,
): { readonly options: PhoneOptions; readonly close: () => Promise<void> } => {
  const { configuration, blocking: redis, serviceKey, now } = core;
  const { phones, prompts } = openPhoneStore({ redis, serviceKey, configuration, now });
  const push = openPush(core, phones);
  return {
    options: { prompts, now, ...(push !== undefined && { wake: push.wake }) },
    close: async () => push?.close(),
  };
};

/** Sends the answers of receipts to the activities that show them and wait. */
const receiptAnswers = (shards: readonly Shard[], redis: RedisClient, now: () => number) => {
  const locate = (id: string) => {
    const transaction = id.slice(0, id.length - receiptJobId('').length);
    const shard = shardFor(shards, transaction) ?? shards[0];
    if (shard === undefined) throw new TypeError('shards: there must be one');
    const { queue } = shard.receipts;
    return { queue, store: createInstanceStore(queue, redis, now) };
  };
  return createEngine(locate, now).answer;
};

interface PhoneAdminSurroundings extends PhoneStoreOptions {
  readonly configured: ConfiguredSubscribers;
  readonly answer: Answer;
  readonly publicUrl: () => string | Promise<string | undefined>;
  /** Revokes all certificates of a phone that is un-enrolled. */
  readonly revoke?: PhoneAdminOptions['revoke'];
}

/** Makes the `revoke` of {@link PhoneAdminSurroundings}. */
export const revokeWith =
  (custody: Pick<KeyCustody, 'revokeCertificate'>) =>
  (phone: Pick<Phone, 'msisdn' | 'id'>): Promise<unknown> =>
    custody.revokeCertificate(keyOwnerOf(phone), 'cessationOfOperation');

/** Opens the administration of phones, for the console and the command line. */
export const openPhoneAdmin = (options: PhoneAdminSurroundings) => {
  const { configuration, configured, answer, publicUrl, revoke } = options;
  const store = openPhoneStore(options);
  const failOpen = createFailOpen({ ...store, answer });
  const invitationMs = configuration.phone.invitationDays * dayMs;
  const admin = createPhoneAdmin({
    ...store,
    now: options.now,
    failOpen,
    configured,
    invitationMs,
    publicUrl,
    revoke,
  });
  return { ...store, failOpen, admin };
};

/** Opens the routes of phones in the API. */
export const openPhoneRoutes = (
  core: Core,
  options: {
    readonly shards: readonly Shard[];
    readonly custody: KeyCustody;
    readonly answer: Answer;
    readonly oauth: Pick<Oauth, 'tenants' | 'join'>;
    readonly publicUrl: () => string;
    readonly addressOf: (incoming: IncomingMessage | undefined) => Source;
    readonly body: { readonly maxBytes: number; readonly timeoutMs: number };
  },
) => {
  const { configuration, commands, blocking, serviceKey, configured, now, onError } = core;
  const { custody, oauth, publicUrl, addressOf, body } = options;
  const { sandbox, phone, queue } = configuration;
  const revoke = revokeWith(custody);
  const room = openPhoneAdmin({
    ...options,
    redis: commands,
    serviceKey,
    configuration,
    configured,
    now,
    revoke,
  });
  const { phones, prompts, activations, failOpen, admin } = room;
  const cookies = createPhoneCookies(serviceKey);
  const passkeys = createPasskeys({ cookies, publicUrl });
  const signing = createSigning({
    prompts,
    phones,
    passkeys,
    custody,
    revoke,
    now,
    answer: options.answer,
    answerReceipt: receiptAnswers(options.shards, commands, now),
  });
  const { maxPhones, push } = phone;
  const views = createViews({
    prompts,
    phones,
    passkeys,
    now,
    pushKey: push?.publicKey,
    applicationName: namesOf(core),
  });
  const remove = async (each: Parameters<typeof admin.removePhone>[0]): Promise<void> => {
    await admin.removePhone(each);
  };
  const pushes = openPush(core, phones);
  const connections = createConnections({
    redis: commands,
    blocking,
    prefix: queue.prefix,
    onError,
    onTold: async (told, connected) => {
      if (told.kind === 'gone') {
        const { id } = told;
        for (const each of connected) each.send('gone', { id, why: toldTo(each.phone, told) });
        return;
      }
      const number = await phones.read(told.msisdn);
      const found = told.kind === 'prompt' ? await prompts.find(told.msisdn, told.id) : undefined;
      const prompt = found?.kind === 'open' ? found.prompt : undefined;
      for (const each of connected) {
        const known = number?.phones.find(({ id }) => id === each.phone);
        if (known === undefined) {
          each.send('state', { enrolled: false });
          each.close();
        } else if (prompt !== undefined) each.send('prompt', await views.promptFor(known, prompt));
        else if (told.kind === 'state') each.send('state', { enrolled: true });
      }
    },
  });
  const routes = createPhoneRoutes({
    phones,
    activations,
    cookies,
    passkeys,
    signing,
    failOpen,
    views,
    connections,
    remove,
    publicUrl,
    addressOf,
    body,
    onError,
    pins: createPins({ phones, serviceKey, now }),
    join: async ({ phone: { msisdn, chain }, ...joining }) => {
      const [certificate] = (await custody.chain(chain))?.certificates ?? [];
      if (certificate === undefined) throw new Error('The certificates of a phone are missing');
      return oauth.join({
        ...joining,
        msisdn,
        certificateHash: hash('sha256', certificate, 'base64url'),
      });
    },
    enrol: createEnrolment({
      phones,
      activations,
      passkeys,
      prompts,
      custody,
      serviceKey,
      maxPhones,
      remove,
      now,
      tellOthers: (msisdn, id) => pushes?.tellOthers(msisdn, id),
    }),
    tellState: (msisdn) => prompts.tell({ kind: 'state', msisdn }),
    selfService: sandbox ? admin.selfService : undefined,
    limiter: core.limiterOver(commands),
  });
  const ownNumber = sandbox ? sandboxPhoneNumber : undefined;
  routes.route('/', createShellRoutes({ frame: frameOf(oauth.tenants), ownNumber, publicUrl }));
  return {
    routes,
    admin,
    /** A link for the sandbox's own number; undefined outside of a sandbox. */
    link: async (): Promise<string | undefined> => (sandbox ? admin.selfService() : undefined),
    close: async (): Promise<void> => {
      await connections.close();
      await pushes?.close();
    },
  };
};
