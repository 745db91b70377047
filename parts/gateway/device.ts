/**
 * Devices behind a gateway: another service of this interface sends the prompt to the person.
 *
 * The service must get one request for each attempt, although a process may die at any moment. So
 * the request has a name that is computed from the attempt: AP_TransID is
 * `<MSSP_TransID>-<attempt>`, Instant is the time at which the attempt first reached the device.
 * The state of the request is in a note with the transaction:
 *
 * G1  The note is made before the request is sent. It has a hash of the whole request.
 * G2  The id in the answer of the service goes into the note at once. From then on only the status
 *     is requested.
 * G3  A request whose answer was lost is sent again only if that cannot cause a second prompt
 *     (`repeats`), and only if it is the same to the byte. Otherwise the attempt ends with fault
 *     900: it is unknown whether the person got a prompt.
 *
 * Fault 900 may be an error of the moment, or the end of the transaction. A request that the
 * service may have accepted never ends by an error of the moment: it goes on until the deadline.
 * The fault counts as the end when the transaction has had it for five seconds in a row, and the
 * service works for others meanwhile: it answers a status request about another transaction, or, if
 * the fault answers the request itself (in synch mode), it takes another request. A service whose
 * store refuses writes still answers questions. In asynch mode fault 900 to the request itself is
 * always an error of the moment where equal requests are joined, because that answer only accepts
 * the request.
 *
 * The service gets a little less time than the attempt has, so that its end is known here before
 * the attempt expires. The interface has no cancel: a prompt stays until that time is over.
 */
import { Buffer } from 'node:buffer';
import { hash } from 'node:crypto';
import type { HandedOn, RequestName } from '../../packages/client/src/calls.ts';
import type { Reply, ServiceAnswers, Standing } from '../../packages/client/src/reply.ts';
import { type Fault, fault } from '../../packages/protocol/src/fault.ts';
import type { DeviceAnswer, UpstreamTransaction } from '../../packages/protocol/src/outcome.ts';
import type { GeofencingPolicy, ProfileName } from '../../packages/protocol/src/requests.ts';
import { profilesByUri } from '../../packages/protocol/src/uris.ts';
import type { GeofencingInput } from '../../packages/protocol/src/write-request.ts';
import type { Prompt, PromptResult, SigningDevice, Told } from '../../src/sscd/device.ts';
import type { MakeDevice } from '../../src/sscd/devices.ts';
import { faultOf, showReceipt } from './answers.ts';
import type { Gateway, Gateways } from './gateways.ts';

/** The state of the request of an attempt at a gateway. */
export interface GatewayNote {
  readonly gateway: string;
  /** The hash of the sent request without the password. */
  readonly sent: string;
  /** The id of the transaction there, once the service has answered. */
  readonly msspTransId?: string | undefined;
  /** The URI of the method that the service has chosen. */
  readonly profile?: string | undefined;
  /** The time since which it answers only fault 900; milliseconds since the epoch. */
  readonly troubledAt?: number | undefined;
}

/** The store of notes. A note is stored with its transaction, and removed with it. */
export interface GatewayNotes {
  /**
   * Makes the note, unless there is one.
   *
   * @returns The existing note; `none` when there was none; `gone` without the transaction.
   */
  claim(
    transactionId: string,
    attempt: number,
    note: GatewayNote,
  ): Promise<GatewayNote | 'none' | 'gone'>;
  /** @param note Undefined removes it. */
  write(transactionId: string, attempt: number, note: GatewayNote | undefined): Promise<void>;
}

/** Time between the end of a prompt at the service and the end of the attempt. */
const marginSeconds = 2;
/** Time of the last regular status request before the attempt expires. */
const lastPollMs = 1000;
const latePollMs = 250;
/** The least pause after a lost answer. */
const retryMs = 250;
const believedAfterMs = 5000;
/**
 * The id of a transaction that does not exist. It has the form of our ids, so that another Paraph
 * looks for it in Redis.
 */
const otherTransId = 'H0000000000000000000';

const lost = fault(
  900,
  'It is not known whether the service of this user has got the request, so it is not asked again',
);
const forgotten = fault(900, 'The service of this user no longer knows the transaction');

const ended = (answer: DeviceAnswer, told?: Told): PromptResult => ({
  kind: 'answered',
  answer,
  ...(told !== undefined && { told }),
});
const endedBy = (reason: Fault): PromptResult => ended({ kind: 'fault', fault: reason });

/** The results of services, with the unchanged texts of the wire. */
const servicesIn = ({ geofencing, subscriberNetwork }: ServiceAnswers): Told['services'] => ({
  ...(geofencing !== undefined && {
    geofencing:
      'errorCode' in geofencing
        ? geofencing
        : {
            country: geofencing.country ?? '',
            accuracy: geofencing.accuracyMeters ?? '',
            deviceConfidence: geofencing.deviceConfidence ?? '',
            locationConfidence: geofencing.locationConfidence ?? '',
            timestamp: geofencing.timestamp ?? '',
          },
  }),
  ...(subscriberNetwork !== undefined && { subscriberNetwork }),
});

/**
 * The signal of a prompt. Without one each call gets a new one, so that listeners do not add up.
 */
const signalOf = ({ signal }: Pick<Prompt, 'signal'>): AbortSignal =>
  signal ?? new AbortController().signal;

const boundsOf = (policy: GeofencingPolicy): GeofencingInput =>
  Object.fromEntries(Object.entries(policy).filter(([, bound]) => bound !== undefined));

const nameOf = ({ transactionId, attempt, promptedAt }: Prompt): RequestName => ({
  apTransId: `${transactionId}-${attempt}`,
  instant: new Date(promptedAt),
});

const timeoutSecondsOf = ({ promptedAt, deadline }: Prompt): number =>
  Math.max(Math.floor((deadline - promptedAt) / 1000) - marginSeconds, 1);

/** The language of a request without one, because some services require it. */
const defaultLanguage = 'en';

/**
 * Makes the request from stored data of the attempt and the configuration only, so that it is the
 * same in each process.
 */
const requestOf = (prompt: Prompt): HandedOn => {
  const { msisdn, data, request, language = defaultLanguage } = prompt;
  if (request === undefined) throw new Error('A prompt for a gateway has its request');
  const { geofencing, subscriberInfo, validate } = request.services;
  const common = {
    msisdn: `+${msisdn}`,
    profile: request.profile.name,
    timeoutSeconds: timeoutSecondsOf(prompt),
    geofencing:
      geofencing?.policy === undefined ? geofencing !== undefined : boundsOf(geofencing.policy),
    subscriberInfo: subscriberInfo !== undefined,
    validate: validate !== undefined,
    language,
  };
  return data.kind === 'text'
    ? { ...common, text: data.text }
    : {
        ...common,
        approval: { title: data.text, rows: [] },
        approvalData: `{"type":${JSON.stringify(data.text)},"dtbd":${data.dtbd}}`,
      };
};

export const createBehindGateway = (gateway: Gateway, notes: GatewayNotes): SigningDevice => {
  const { settings, upstream } = gateway;
  const { name, url, authority, mode, repeats } = settings;
  const profiles = profilesByUri([authority]);

  /** @param note A note that has the id of the transaction there. */
  const upstreamIn = ({ msspTransId = '' }: GatewayNote): UpstreamTransaction => ({
    gateway: name,
    msspTransId,
  });

  const signedBy = (standing: Standing, note: GatewayNote): PromptResult => {
    if (standing.state !== 'signed') return endedBy(fault(900));
    const chosen: ProfileName | undefined = profiles.get(note.profile ?? '')?.name;
    const told: Told = {
      upstream: upstreamIn(note),
      services: servicesIn(standing.services),
      ...(chosen !== undefined && { profile: chosen }),
    };
    return ended(
      { kind: 'signature', cms: Buffer.from(standing.signature).toString('base64') },
      told,
    );
  };

  const awaiting = (prompt: Prompt, note: GatewayNote): PromptResult => {
    const { now, promptedAt, deadline } = prompt;
    const last = deadline - lastPollMs;
    const next =
      now < last
        ? Math.min(gateway.pollAt(now + gateway.pauseMs(now - promptedAt)), last)
        : now + latePollMs;
    return { kind: 'awaiting', askAgainAt: Math.ceil(next), upstream: upstreamIn(note) };
  };

  /** The result without an answer. The person may have a prompt, so the attempt does not end. */
  const unanswered = (
    prompt: Prompt,
    reply: Extract<Reply<unknown>, { kind: 'unreachable' | 'aborted' }>,
  ) => {
    const { now, promptedAt } = prompt;
    const pauseMs = Math.max(gateway.pauseMs(now - promptedAt), retryMs);
    const cause = reply.kind === 'aborted' ? 'no answer in time' : reply.cause;
    return { kind: 'awaiting', askAgainAt: Math.ceil(now + pauseMs), unanswered: cause } as const;
  };

  const troubled = (prompt: Prompt): PromptResult =>
    unanswered(prompt, { kind: 'unreachable', cause: 'it reports an internal error (fault 900)' });

  /**
   * Whether the service has taken another request since it first answered this one with the fault.
   */
  const takesOthers = ({ troubledAt = Number.POSITIVE_INFINITY }: GatewayNote): boolean =>
    gateway.tookAt.latest > troubledAt;

  const isLasting = ({ troubledAt }: GatewayNote, { now }: Prompt): boolean =>
    troubledAt !== undefined && now - troubledAt >= believedAfterMs;

  const noteTrouble = async (
    { transactionId, attempt }: Prompt,
    note: GatewayNote,
    troubledAt: number,
  ): Promise<void> => {
    if (note.troubledAt === undefined)
      await notes.write(transactionId, attempt, { ...note, troubledAt });
  };

  /** Whether the service answers questions about other transactions. */
  const answersOthers = async (prompt: Prompt): Promise<boolean> => {
    const reply = await gateway.asks(signalOf(prompt)).status(otherTransId);
    return reply.kind === 'answered' || (reply.kind === 'fault' && reply.fault.code !== 900);
  };

  const look = async (prompt: Prompt, note: GatewayNote): Promise<PromptResult> => {
    const { transactionId, attempt } = prompt;
    const { troubledAt, ...calm } = note;
    const { msspTransId = '' } = note;
    const isBelieved = isLasting(note, prompt) && (await answersOthers(prompt));
    const reply = await gateway.asks(signalOf(prompt)).status(msspTransId);
    if (reply.kind === 'unreachable' || reply.kind === 'aborted') return unanswered(prompt, reply);
    if (reply.kind === 'answered') {
      const { value } = reply;
      if (value.state !== 'outstanding') return signedBy(value, note);
      if (troubledAt !== undefined) await notes.write(transactionId, attempt, calm);
      return awaiting(prompt, note);
    }
    if (reply.isFinal) return endedBy(faultOf(reply.fault));
    const { code, detail } = reply.fault;
    if (code === 900 && !isBelieved) {
      await noteTrouble(prompt, note, prompt.now);
      return awaiting(prompt, note);
    }
    // Some services say in this way that there is no such transaction.
    if (code === 101 && /mssp_?transid/i.test(detail)) return endedBy(forgotten);
    return endedBy(faultOf(reply.fault));
  };

  /** @param isRepeated Whether another try may have sent the same request before. */
  const submit = async (
    prompt: Prompt,
    note: GatewayNote,
    isRepeated: boolean,
  ): Promise<PromptResult> => {
    const { transactionId, attempt, now, deadline } = prompt;
    const { troubledAt: _, ...calm } = note;
    const isBelieved = mode === 'synch' && isLasting(note, prompt) && takesOthers(note);
    const request = { ...requestOf(prompt), mode };
    const inTime = AbortSignal.timeout(Math.max(deadline - now - latePollMs, 1));
    const signal = AbortSignal.any([signalOf(prompt), inTime]);
    const begun = performance.now();
    const reply = await gateway.calls(signal).sign(request, nameOf(prompt));
    const answeredAt = now + Math.round(performance.now() - begun);
    switch (reply.kind) {
      case 'answered': {
        const { msspTransId, profile, standing } = reply.value;
        const accepted: GatewayNote = { ...calm, msspTransId, profile };
        gateway.tookAt.latest = answeredAt;
        await notes.write(transactionId, attempt, accepted);
        return standing.state === 'outstanding'
          ? awaiting(prompt, accepted)
          : signedBy(standing, accepted);
      }
      case 'fault':
        if (reply.isFinal) return endedBy(faultOf(reply.fault));
        if (reply.retryLater) {
          if (!isRepeated) await notes.write(transactionId, attempt, undefined);
          return {
            kind: 'unreachable',
            cause: 'it is busy and asks to try again later',
            refused: true,
          };
        }
        if (reply.fault.code === 900 && repeats === 'joined' && !isBelieved) {
          // In synch mode the call may have taken as long as the person thinks.
          await noteTrouble(prompt, note, answeredAt);
          return troubled(prompt);
        }
        return endedBy(isRepeated && repeats === 'refused' ? lost : faultOf(reply.fault));
      case 'unreachable':
        if (!reply.unsent || isRepeated) return unanswered(prompt, reply);
        await notes.write(transactionId, attempt, undefined);
        return { kind: 'unreachable', cause: reply.cause };
      case 'aborted':
        return unanswered(prompt, reply);
    }
  };

  return {
    kind: 'gateway',
    screen: false,
    upstream,
    prompt: async (prompt) => {
      const { transactionId, attempt } = prompt;
      const { apTransId, instant } = nameOf(prompt);
      const sent = hash(
        'sha256',
        JSON.stringify([url, mode, apTransId, instant, requestOf(prompt)]),
        'base64url',
      );
      // G1
      const mine: GatewayNote = { gateway: name, sent };
      const note = await notes.claim(transactionId, attempt, mine);
      if (note === 'gone')
        return { kind: 'unreachable', cause: 'the transaction is gone', refused: true };
      if (note === 'none') return submit(prompt, mine, false);
      // G2. In synch mode the status of an id is sufficient, too.
      if (note.msspTransId !== undefined && note.gateway === name) return look(prompt, note);
      // G3
      if (note.gateway !== name || note.sent !== sent || repeats === 'unknown')
        return endedBy(lost);
      return submit(prompt, note, true);
    },
    receipt: (prompt) => showReceipt(gateway, prompt),
  };
};

/**
 * @throws When no gateway has the name in a device. The schema of the configuration checks that.
 */
export const gatewayDevices =
  (gateways: Pick<Gateways, 'find'>, notes: GatewayNotes): MakeDevice =>
  (spec) => {
    if (spec.kind !== 'gateway' || !('upstream' in spec)) return undefined;
    const gateway = gateways.find(spec.upstream);
    if (gateway === undefined) throw new Error(`There is no gateway ${spec.upstream}`);
    return createBehindGateway(gateway, notes);
  };
