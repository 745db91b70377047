/** Phones in a process with the API, which serves them. */
import { hash } from 'node:crypto';
import { createEngine } from '../../packages/engine/src/engine.ts';
import { createInstanceStore } from '../../packages/engine/src/redis/instance-store.ts';
import type { ApiPart } from '../../src/part/opened.ts';
import type { ApiRooms } from '../../src/part/rooms.ts';
import type { RedisClient } from '../../src/redis/connect.ts';
import { receiptJobId } from '../../src/transactions/contract.ts';
import { type Shard, shardFor } from '../../src/transactions/shards.ts';
import type { PhoneShapes } from './configuration.ts';
import { createConnections } from './connections.ts';
import { createEnrolment } from './enrolment.ts';
import { greetingWith } from './greeting.ts';
import { createPasskeys } from './passkeys.ts';
import { createPhoneRoutes, type PhoneRoutesOptions } from './phone.route.ts';
import type { Phones } from './phones.ts';
import { createPins } from './pins.ts';
import type { PhonePrompts } from './prompts.ts';
import { createPhoneCookies } from './secrets.ts';
import { createShellRoutes } from './shell.route.ts';
import { createSigning, toldTo } from './signing.ts';
import {
  createPhoneStart,
  createStartCodes,
  readStartCode,
  type StartCodes,
} from './start-codes.ts';
import { openAdmin, openPush, revokeWith } from './store.ts';
import { sandboxPhoneNumber } from './subscribers.ts';
import { createViews, type Views } from './views.ts';

type Rooms = ApiRooms<PhoneShapes>;

/** Receipts are shown by activities, which wait for their answers. */
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

/** The messages that connected phones get. */
const openConnections = (
  { redis, blocking, prefix, onError }: Rooms,
  { phones, prompts, views }: { phones: Phones; prompts: PhonePrompts; views: Views },
) =>
  createConnections({
    redis,
    blocking,
    prefix,
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

const joinWith =
  ({ custody, joinLogin }: Rooms, codes: StartCodes): PhoneRoutesOptions['join'] =>
  async ({ phone: { msisdn, chain }, code, cookies, ...browser }) => {
    const login = readStartCode(codes, code, cookies);
    if (login === undefined) return { kind: 'unknown' };
    const [certificate] = (await custody.chain(chain))?.certificates ?? [];
    if (certificate === undefined) throw new Error('The certificates of a phone are missing');
    const certificateHash = hash('sha256', certificate, 'base64url');
    return joinLogin({ ...browser, login, msisdn, certificateHash });
  };

export const openPhoneApi = (rooms: Rooms): ApiPart => {
  const { settings, redis, shards, custody, serviceKey, publicUrl, answer, now } = rooms;
  const { sandbox, phone } = settings;
  const revoke = revokeWith(custody);
  const { phones, prompts, activations, failOpen, admin } = openAdmin({ ...rooms, revoke });
  const cookies = createPhoneCookies(serviceKey);
  const passkeys = createPasskeys({ cookies, publicUrl });
  const signing = createSigning({
    prompts,
    phones,
    passkeys,
    custody,
    revoke,
    now,
    answer,
    answerReceipt: receiptAnswers(shards, redis, now),
  });
  const views = createViews({
    prompts,
    phones,
    passkeys,
    now,
    pushKey: phone.push?.publicKey,
    applicationName: rooms.nameOf,
  });
  const remove = async (each: Parameters<typeof admin.removePhone>[0]): Promise<void> => {
    await admin.removePhone(each);
  };
  const pushes = openPush(rooms, phones);
  const connections = openConnections(rooms, { phones, prompts, views });
  const codes = createStartCodes(serviceKey, rooms.hostNow);
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
    addressOf: rooms.addressOf,
    body: rooms.body,
    onError: rooms.onError,
    pins: createPins({ phones, serviceKey, now }),
    join: joinWith(rooms, codes),
    enrol: createEnrolment({
      phones,
      activations,
      passkeys,
      prompts,
      custody,
      serviceKey,
      maxPhones: phone.maxPhones,
      remove,
      now,
      tellOthers: (msisdn, id) => pushes?.tellOthers(msisdn, id),
    }),
    tellState: (msisdn) => prompts.tell({ kind: 'state', msisdn }),
    selfService: sandbox ? admin.selfService : undefined,
    limiter: rooms.limiter,
  });
  const ownNumber = sandbox ? sandboxPhoneNumber : undefined;
  routes.route('/', createShellRoutes({ frame: rooms.frame, ownNumber, publicUrl }));
  return {
    routes,
    deviceStart: createPhoneStart(codes),
    ...(sandbox && { greet: async () => greetingWith(await admin.selfService(), rooms.selfUrl()) }),
    endWaiting: async (): Promise<void> => {
      await connections.close();
      await pushes?.close();
    },
  };
};
