/**
 * Who is asked: ranges of numbers with one behaviour each, and the configuration that makes them
 * so.
 *
 * Few numbers share much load on purpose. Phones must meet: a SIM that is busy and an App whose
 * screen is taken over are where prompts could go wrong.
 */
import type { Random } from './random.ts';

const range = (first: number, count: number) => ({ first, count });

const people = {
  /** Sign at once. */
  robot: range(41_790_000_000, 100),
  /** Sign after a second. */
  thinker: range(41_791_000_000, 100),
  /** A SIM that nobody picks up. */
  silentSim: range(41_792_000_000, 24),
  /** An App that nobody looks at. */
  silentApp: range(41_793_000_000, 6),
  /** Sign, cancel or do nothing on a phone in a browser. */
  browser: range(41_793_100_000, 6),
  refuser: range(41_794_000_000, 10),
  /** Sign on a SIM, and accept, cancel, ignore or never see the receipt. */
  accepter: range(41_795_000_000, 10),
  canceller: range(41_795_100_000, 10),
  ignorer: range(41_795_200_000, 10),
  sleeper: range(41_795_300_000, 10),
  /** Get one-time passwords by text. */
  texted: range(41_796_000_000, 50),
  /** Of processes: sign at once, after a second, never; refuse; are switched off. */
  signer: range(41_797_000_000, 200),
  ponderer: range(41_797_100_000, 100),
  mute: range(41_797_200_000, 100),
  denier: range(41_797_300_000, 30),
  unreachable: range(41_797_400_000, 30),
  /** Sign at once, and are in so many processes that they reach the limit of prompts. */
  popular: range(41_797_500_000, 2),
  /** Of bulks: refuse, are switched off, never answer. */
  bulkDenier: range(41_798_000_000, 10_000),
  bulkAbsent: range(41_798_100_000, 10_000),
  bulkMute: range(41_798_200_000, 10_000),
  /** Log in; sign at once, or after a second. */
  visitor: range(41_798_300_000, 20),
  slowVisitor: range(41_798_400_000, 20),
  /** Get mails, and sign at once. */
  reader: range(41_798_500_000, 10_000),
  /** Sign documents at once. */
  drafter: range(41_798_600_000, 10_000),
} as const;

export type Person = keyof typeof people;

export const numberOf = (person: Person, random: Random): string => {
  const { first, count } = people[person];
  return `+${first + random.below(count)}`;
};

/** Digits. */
export const everyNumberOf = (person: Person): readonly string[] => {
  const { first, count } = people[person];
  return Array.from({ length: count }, (_, index) => String(first + index));
};

/** One after the other, so that they do not meet. */
export const numberAt = (person: Person, index: number): string => {
  const { first, count } = people[person];
  return `+${first + (index % count)}`;
};

export const personOf = (msisdn: string): Person | undefined => {
  const number = Number(msisdn.replace('+', ''));
  return (Object.keys(people) as Person[]).find((person) => {
    const { first, count } = people[person];
    return number >= first && number < first + count;
  });
};

export const applicationId = 'http://faults.test';
/** The one that floods. */
export const crowdId = 'http://crowd.test';
/** The one that runs processes, and hears of them at its callback. */
export const processesId = 'http://processes.test';
/** The one whose signers get mails. */
export const mailsId = 'http://mails.test';
/** The one whose people sign documents. */
export const documentsId = 'http://documents.test';
/** The one that runs charts of its own. */
export const chartsId = 'http://charts.test';
/** Under this address browsers know the service; a balancer takes them to any API. */
export const publicUrl = 'http://sign.faults.test';
/** It logs people in. */
export const loginClient = {
  id: 'shop',
  secret: 'Geheim-4f1b+/ %&=:~',
  redirectUri: 'https://client.example/callback',
} as const;
/** Of `loginClient.secret`, cheap to verify. */
const secretHash =
  '$scrypt$ln=10,r=8,p=1$WSq+PUMkKR8xwxMo3TeowA$/xMA3cPAsGts2vYIayb/XRuvl5oi0yXJLkniKNRf6mU';

const subscriber = (person: Person, devices: object) => ({
  msisdn: `+${people[person].first}`,
  through: `+${people[person].first + people[person].count - 1}`,
  ...devices,
});

const simulated = (sign: string | object, receipt = 'accepts') => ({
  device: { kind: 'simulated', sign, receipt },
});

export interface Surroundings {
  /** Where this process sends texts: each has an address of its own, by which it is known. */
  readonly gatewayUrl: string;
  /** Where ends of transactions, and processes, are told of. Default: the same. */
  readonly callbackUrl?: string;
  readonly mailUrl?: string;
  /** Files of charts. */
  readonly workflows?: readonly string[];
}

/** All browsers and phones of a run are behind one address. */
const noLimit = { requests: 1_000_000, perSeconds: 1 };
const limitNames = [
  'pushedPerClient',
  'pushedPerAddress',
  'promptsPerNumber',
  'promptsPerNumberLong',
  'promptsPerClient',
  'promptsPerAddress',
  'loginsPerAddress',
  'refusedTokensPerAddress',
];

export const configurationFor = ({
  gatewayUrl,
  callbackUrl = gatewayUrl,
  mailUrl,
  workflows = [],
}: Surroundings) => ({
  // Callbacks may go to this machine.
  sandbox: true,
  publicUrl,
  ...(mailUrl !== undefined && { mail: { url: mailUrl, from: 'Faults <sign@faults.example>' } }),
  workflows,
  oidc: {
    promptSeconds: 20,
    limits: Object.fromEntries(limitNames.map((name) => [name, noLimit])),
    tenants: [
      {
        id: 'main',
        name: 'Main',
        clients: [
          {
            id: loginClient.id,
            name: 'Shop',
            secretHash,
            redirectUris: [loginClient.redirectUri],
            scopes: ['openid', 'phone', 'profile'],
            loginHintAllowed: true,
            parSuccessStatus: 201,
          },
        ],
      },
    ],
  },
  applicationProviders: [
    { id: applicationId, callback: { url: callbackUrl } },
    { id: crowdId },
    { id: processesId, callback: { url: callbackUrl } },
    { id: mailsId },
    { id: documentsId },
    { id: chartsId, callback: { url: callbackUrl } },
  ],
  queue: { shards: 2, prefix: 'faults' },
  receipt: { timeoutSeconds: 3 },
  otp: { gateway: { kind: 'webhook', url: gatewayUrl } },
  subscribers: [
    subscriber('robot', { sim: { device: { kind: 'robot' } } }),
    subscriber('thinker', { sim: { device: { kind: 'robot', thinkSeconds: 1 } } }),
    subscriber('silentSim', { sim: simulated('never-answers', 'never-answers') }),
    subscriber('silentApp', { apps: [simulated('never-answers', 'never-answers')] }),
    subscriber('browser', { apps: [{ device: { kind: 'phone' } }] }),
    subscriber('refuser', { sim: simulated({ fault: 401 }) }),
    subscriber('accepter', { sim: simulated('signs', 'accepts') }),
    subscriber('canceller', { sim: simulated('signs', 'cancels') }),
    subscriber('ignorer', { sim: simulated('signs', 'ignores') }),
    subscriber('sleeper', { sim: simulated('signs', 'never-answers') }),
    subscriber('signer', { sim: { device: { kind: 'robot' } } }),
    subscriber('ponderer', { sim: { device: { kind: 'robot', thinkSeconds: 1 } } }),
    subscriber('mute', { sim: simulated('never-answers', 'never-answers') }),
    subscriber('denier', { sim: simulated({ fault: 401 }) }),
    subscriber('unreachable', { sim: simulated({ fault: 209 }) }),
    subscriber('popular', { sim: { device: { kind: 'robot' } } }),
    subscriber('bulkDenier', { sim: simulated({ fault: 401 }) }),
    subscriber('bulkAbsent', { sim: simulated({ fault: 209 }) }),
    subscriber('bulkMute', { sim: simulated('never-answers', 'never-answers') }),
    subscriber('visitor', { sim: { device: { kind: 'robot' } } }),
    subscriber('slowVisitor', { sim: { device: { kind: 'robot', thinkSeconds: 1 } } }),
    subscriber('reader', { sim: { device: { kind: 'robot' } } }),
    subscriber('drafter', { sim: { device: { kind: 'robot' } } }),
  ],
});
