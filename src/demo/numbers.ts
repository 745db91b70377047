/**
 * The sandbox's users as a list to choose from, described from what they are made of.
 */
import { faultTable, isFaultCode } from '../protocol/fault.ts';
import type { Subscriber } from '../registry/subscriber.ts';
import { testUsers } from '../registry/test-users.ts';

export interface NumberChoice {
  /** With plus. */
  readonly number: string;
  readonly does: string;
}

export interface NumberGroup {
  readonly title: string;
  readonly choices: readonly NumberChoice[];
}

const keyOf = (algorithm: 'EC' | 'RSA'): string => (algorithm === 'EC' ? 'EC key' : 'RSA key');

/** `SIM, EC key`, or `SIM and App`. */
const deviceOf = ({ sim, apps: [app] }: Subscriber): string => {
  if (sim !== undefined && app !== undefined) return 'SIM and App';
  const device = sim ?? app;
  if (device === undefined) return 'nothing';
  return `${sim === undefined ? 'App' : 'SIM'}, ${keyOf(device.algorithm)}`;
};

const kindOf = ({ sim, apps }: Subscriber): 'robot' | 'person' | 'nobody' => {
  const device = (sim ?? apps[0])?.device;
  if (device === undefined || device.kind === 'robot') return 'robot';
  return device.sign === 'signs' ? 'person' : 'nobody';
};

const unlocated = ({ location: { sim } }: Subscriber): string =>
  sim !== undefined && 'errorCode' in sim ? ', cannot be located' : '';

const errorOf = ({ alwaysFaults }: Subscriber): string => {
  const code = alwaysFaults?.code ?? 900;
  return isFaultCode(code) ? `${code} ${faultTable[code].detail}` : String(code);
};

const describe = (user: Subscriber): string => {
  if (user.alwaysFaults !== undefined) return errorOf(user);
  switch (kindOf(user)) {
    case 'robot':
      return `robot with ${deviceOf(user)}${unlocated(user)}`;
    case 'person':
      return `person with ${deviceOf(user)}, who signs`;
    case 'nobody':
      return `person with ${deviceOf(user)}, who never answers`;
  }
};

/** Users who differ in nothing that a login shows (in receipts, for instance) are one choice. */
const choicesOf = (users: readonly Subscriber[]): readonly NumberChoice[] => {
  const byWords = new Map<string, NumberChoice>();
  for (const user of users) {
    const does = describe(user);
    if (!byWords.has(does)) byWords.set(does, { number: `+${user.msisdn}`, does });
  }
  return [...byWords.values()];
};

export const numberGroups = (): readonly NumberGroup[] => {
  const healthy = testUsers.filter(({ alwaysFaults }) => alwaysFaults === undefined);
  return [
    { title: 'Sign', choices: choicesOf(healthy.filter((user) => kindOf(user) !== 'nobody')) },
    { title: 'Never answer', choices: choicesOf(healthy.filter((user) => kindOf(user) === 'nobody')) },
    {
      title: 'End with an error',
      choices: choicesOf(testUsers.filter(({ alwaysFaults }) => alwaysFaults !== undefined)),
    },
  ];
};
