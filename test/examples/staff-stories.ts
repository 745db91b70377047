/** Applicants, people who join, purchases, access and releases. */
import type { Json } from '../support/product.ts';
import { absentee, isIn, refuser, type Story, signature, signer } from './story.ts';

const aHundredth = 0.01 / 60;

const applicants = (): readonly Story[] => {
  const [one, officer, other, refusing] = [signer(), signer(), signer(), refuser()];
  const paper = {
    when: (view: Json) => view.context?.missing === 'payslip',
    send: { type: 'PAPER', number: 'P-1' },
  };
  const loan = (applicant: string, msisdn: string, by: string, francs: number, income: number) => ({
    of: 'applicant-check',
    input: { applicant, msisdn, officer: by, francs, income },
    events: [paper],
    did: [`score of ${applicant}`],
  });
  return [
    {
      title: 'a loan is granted when the officer and the applicant have signed',
      ...loan('Ann', one, officer, 20_000, 4000),
      ends: {
        status: 'completed',
        state: 'granted',
        output: { score: 1000, msspTransId: signature },
      },
      signed: [
        [officer, 'Loan to Ann, CHF 20000: I approve'],
        [one, 'Ann: I take a loan of CHF 20000'],
      ],
    },
    {
      title: 'a small loan needs no officer',
      ...loan('Ben', other, officer, 5000, 900),
      ends: {
        status: 'completed',
        state: 'granted',
        output: { score: 900, msspTransId: signature },
      },
      signed: [[other, 'Ben: I take a loan of CHF 5000']],
    },
    {
      title: 'a loan is refused by its officer',
      ...loan('Cleo', other, refusing, 9000, 4000),
      ends: { status: 'completed', state: 'refused', output: { applicant: 'Cleo' } },
      unsigned: [[refusing, 'Loan to Cleo, CHF 9000: I approve']],
    },
    {
      title: 'a loan is refused for a bad score',
      ...loan('Dan', other, officer, 9000, 100),
      ends: { status: 'completed', state: 'refused', output: { score: 56 } },
    },
  ];
};

const joiners = (): readonly Story[] => {
  const [employee, manager, other] = [signer(), signer(), refuser()];
  const rests = (more: object) => (view: Json) =>
    Object.entries({ contract: 'signed', desk: 'laptop', ...more }).every(
      ([region, state]) => view.state?.preparing?.[region] === state,
    );
  return [
    {
      title: 'somebody joins, and what was held goes on in each part where it was',
      of: 'onboarding',
      input: { name: 'Eve', employee, manager },
      events: [
        { when: rests({ mentor: 'wanted' }), send: { type: 'MENTOR', mentor: 'Kim' } },
        { when: rests({ mentor: 'named' }), send: { type: 'HOLD' } },
        { when: isIn('held'), send: { type: 'LAPTOP' }, refused: true },
        { when: isIn('held'), send: { type: 'RESUME' } },
        { when: rests({ mentor: 'named' }), send: { type: 'LAPTOP' } },
      ],
      ends: {
        status: 'completed',
        state: 'ready',
        output: {
          account: 'eve',
          mentor: 'Kim',
          signatures: { employee: signature, manager: signature },
        },
      },
      did: ['account of Eve', 'welcome Eve, ask Kim'],
      signed: [manager, employee].map((msisdn) => [msisdn, 'Contract of Eve: I sign'] as const),
    },
    {
      title: 'somebody who refuses the contract does not join',
      of: 'onboarding',
      input: { name: 'Flo', employee: other, manager },
      ends: { status: 'completed', state: 'declined', output: { name: 'Flo' } },
      did: ['account of Flo'],
      signed: [[manager, 'Contract of Flo: I sign']],
      unsigned: [[other, 'Contract of Flo: I sign']],
    },
  ];
};

const purchases = (): readonly Story[] => {
  const [low, away, high, refusing] = [signer(), absentee(), signer(), refuser()];
  const text = (purchase: string, francs: number) =>
    `Purchase ${purchase}, CHF ${francs}: I approve`;
  return [
    {
      title: 'a purchase climbs past somebody who does not answer, until a limit covers it',
      of: 'purchase',
      input: {
        purchase: 'Q-1',
        francs: 900,
        levels: [
          { name: 'Low', msisdn: low, limit: 100 },
          { name: 'Away', msisdn: away, limit: 1000, hours: 1 / 3600 },
          { name: 'High', msisdn: high, limit: 5000 },
        ],
      },
      ends: {
        status: 'completed',
        state: 'ordered',
        output: {
          signed: [
            { name: 'Low', msspTransId: signature },
            { name: 'High', msspTransId: signature },
          ],
        },
      },
      did: ['Q-1: Away has not answered', 'order Q-1 for CHF 900'],
      signed: [low, high].map((msisdn) => [msisdn, text('Q-1', 900)] as const),
      unsigned: [[away, text('Q-1', 900)]],
    },
    {
      title: 'a purchase is refused',
      of: 'purchase',
      input: {
        purchase: 'Q-2',
        francs: 50,
        levels: [{ name: 'No', msisdn: refusing, limit: 100 }],
      },
      ends: { status: 'completed', state: 'refused', output: { signed: [] } },
      unsigned: [[refusing, text('Q-2', 50)]],
    },
    {
      title: 'a purchase that nobody may approve is not ordered',
      of: 'purchase',
      input: { purchase: 'Q-3', francs: 500, levels: [{ name: 'Low', msisdn: low, limit: 100 }] },
      ends: { status: 'completed', state: 'unapproved', output: { signed: [{ name: 'Low' }] } },
      signed: [[low, text('Q-3', 500)]],
    },
  ];
};

const grants = (): readonly Story[] => {
  const [first, second] = [signer(), signer()];
  const isQuiet = (extensions: number) => (view: Json) =>
    view.state?.granted === 'quiet' && view.context.extensions === extensions;
  return [
    {
      title: 'access is extended, and taken away when it is revoked',
      of: 'access-grant',
      input: { user: 'G-1', system: 'mail', engineer: first },
      events: [
        { when: isQuiet(0), send: { type: 'EXTEND' } },
        { when: isQuiet(1), send: { type: 'REVOKE' } },
      ],
      ends: { status: 'completed', state: 'ended', output: { extensions: 1, why: 'REVOKED' } },
      did: ['grant G-1 mail', 'revoke G-1 mail'],
      signed: [
        [first, 'Access of G-1 to mail: I approve'],
        [first, 'More time of G-1 to mail: I approve'],
      ],
    },
    {
      title: 'access ends by itself, after a warning',
      of: 'access-grant',
      input: { user: 'G-2', system: 'mail', engineer: second, minutes: 50 * aHundredth },
      ends: { status: 'completed', state: 'ended', output: { extensions: 0, why: 'EXPIRED' } },
      did: ['grant G-2 mail', 'access of G-2 to mail ends soon', 'revoke G-2 mail'],
      signed: [[second, 'Access of G-2 to mail: I approve']],
    },
  ];
};

const releases = (url: string): readonly Story[] => {
  const [author, reviewer, refusing, away] = [signer(), signer(), refuser(), absentee()];
  const approvals = (release: string, ...who: readonly string[]) =>
    who.map((msisdn) => [msisdn, `Release ${release}: I approve`] as const);
  const input = (release: string, watchMinutes: number) => ({
    release,
    author,
    reviewer,
    pipeline: url,
    watchMinutes,
  });
  return [
    {
      title: 'a release is deployed and watched',
      of: 'release',
      input: input('R-1', 30 * aHundredth),
      ends: {
        status: 'completed',
        state: 'released',
        output: { signatures: [signature, signature] },
      },
      called: [{ action: 'deploy', release: 'R-1' }],
      signed: approvals('R-1', author, reviewer),
    },
    {
      title: 'a release is rolled back at an alarm',
      of: 'release',
      input: input('R-2', 60),
      events: [{ when: isIn('watching'), send: { type: 'ALARM' } }],
      ends: { status: 'completed', state: 'rolledBack', output: { why: 'ALARM' } },
      called: ['deploy', 'rollback'].map((action) => ({ action, release: 'R-2' })),
      signed: approvals('R-2', author, reviewer),
    },
    {
      title: 'a release that one of them refuses is not deployed',
      of: 'release',
      input: { ...input('R-3', 60), author: refusing, reviewer: away },
      ends: { status: 'completed', state: 'refused', output: { why: 'NOT_APPROVED_BY_AUTHOR' } },
      unsigned: approvals('R-3', refusing, away),
    },
  ];
};

/** @param url Of the pipeline of releases. */
export const staffStories = (url: string): readonly Story[] => [
  ...applicants(),
  ...joiners(),
  ...purchases(),
  ...grants(),
  ...releases(url),
];
