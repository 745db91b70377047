/**
 * Callbacks that fail, by application and receiver: how many wait and are dead, with which problems,
 * since when, and what such a problem usually means. Counted from the newest rows of both lists.
 */
import type { CallbackRow } from './callback-row.ts';

/** Times are in milliseconds since the epoch. */
export interface FailingReceiver {
  readonly apId: string;
  /** Absent where the application no longer has a callback. */
  readonly host?: string;
  /** Tried again by themselves. */
  readonly retried: number;
  readonly dead: number;
  /** How many have which problem, the most frequent first. */
  readonly problems: Readonly<Record<string, number>>;
  /** What the most frequent problem usually means, and what to do. */
  readonly advice?: string;
  /** The time of the oldest event among them. */
  readonly oldestAt: number;
  /** The last try of any. */
  readonly triedAt?: number;
  /** The next try of any that waits. */
  readonly nextTryAt?: number;
}

export interface FailingReceivers {
  readonly retried: number;
  readonly dead: number;
  /** Whether all callbacks of both lists are counted by receiver. Otherwise these are the newest. */
  readonly isWhole: boolean;
  /** The one with most callbacks first. */
  readonly receivers: readonly FailingReceiver[];
}

const secretOf = (apId: string): string =>
  `Most often it verifies with another secret than that of the service: compare with paraph aps secret ${apId}.`;

/** What to do about a problem, by its text (src/http/outgoing/post.ts); the first that fits. */
const advices: readonly (readonly [
  problem: RegExp,
  advice: string | ((apId: string) => string),
])[] = [
  [/^HTTP 401$/, secretOf],
  [/^HTTP 403$/, (apId) => `It, or a gateway before it, forbids the request. ${secretOf(apId)}`],
  [/^HTTP (404|405)$/, 'It takes no POST at this address: compare callback.url with its own.'],
  [/^HTTP 3/, 'Redirects are not followed: callback.url must be the address that answers itself.'],
  [/^HTTP 410$/, 'It wants this message no more: tries end at once.'],
  [/^HTTP 413$/, 'It, or a gateway before it, takes no body of this size.'],
  [/^HTTP 429$/, 'It is asked too often; its Retry-After is respected.'],
  [/^HTTP 4/, 'It rejects the message: its log says why.'],
  [/^HTTP 50[234]$/, 'A gateway before it answers for it: is the receiver up?'],
  [/^HTTP 5/, 'It fails itself: its log says why.'],
  [
    /timeout|ETIMEDOUT/,
    'It gave no answer within 10 seconds: it answers before it does the work, or a firewall drops the connection.',
  ],
  [/ECONNREFUSED/, 'Nothing listens there: is it up, and the port of callback.url right?'],
  [/ENOTFOUND|EAI_AGAIN/, 'Its name is not known to the resolver of the workers.'],
  [
    /CERT|TLS|SSL|SELF_SIGNED|ISSUER|LEAF|EPROTO/,
    'Its certificate is not accepted: it has ended, is for another name, or of an authority that NODE_EXTRA_CA_CERTS of the workers must name.',
  ],
  [/unreachable/, 'The connection fails: look at the network and the receiver.'],
  [/not allowed/, 'Its address is not public: operations.callbackHosts names hosts inside.'],
  [
    /knows no callback/,
    'A worker has a configuration without a callback of this application: is the roll-out over?',
  ],
];

/** What a problem usually means; undefined for one that says it itself. */
const adviceFor = (problem: string, apId: string): string | undefined => {
  const advice = advices.find(([text]) => text.test(problem))?.[1];
  return typeof advice === 'function' ? advice(apId) : advice;
};

const least = (times: readonly (number | undefined)[]): number | undefined => {
  const known = times.filter((time) => time !== undefined);
  return known.length === 0 ? undefined : known.reduce((one, other) => Math.min(one, other));
};

const receiverOf = (rows: readonly [CallbackRow, ...CallbackRow[]]): FailingReceiver => {
  const [{ apId, host }] = rows;
  const counts = new Map<string, number>();
  for (const { problem } of rows)
    if (problem !== undefined) counts.set(problem, (counts.get(problem) ?? 0) + 1);
  const problems = [...counts].toSorted(([, one], [, other]) => other - one);
  const advice = problems[0] && adviceFor(problems[0][0], apId);
  const newest = least(rows.map(({ triedAt }) => triedAt && -triedAt));
  const nextTryAt = least(rows.map(({ nextTryAt }) => nextTryAt));
  return {
    apId,
    ...(host !== undefined && { host }),
    retried: rows.filter(({ state }) => state === 'waiting').length,
    dead: rows.filter(({ state }) => state === 'dead').length,
    problems: Object.fromEntries(problems),
    ...(advice !== undefined && { advice }),
    oldestAt: least(rows.map(({ endedAt }) => endedAt)) ?? 0,
    ...(newest !== undefined && { triedAt: -newest }),
    ...(nextTryAt !== undefined && { nextTryAt }),
  };
};

/** @param rows With the hosts. */
export const receiversOf = (rows: readonly CallbackRow[]): readonly FailingReceiver[] => {
  const groups = new Map<string, [CallbackRow, ...CallbackRow[]]>();
  for (const row of rows) {
    const key = JSON.stringify([row.apId, row.host]);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [row]);
    else group.push(row);
  }
  return [...groups.values()]
    .map(receiverOf)
    .toSorted((one, other) => other.retried + other.dead - one.retried - one.dead);
};
