/**
 * A process of two steps that two people and then one of two have signed, by the real keys of a
 * custody.
 */

import { signCms } from '../../../../packages/pki/src/cms.ts';
import type { KeyCustody, PrivateKey } from '../../../../packages/pki/src/ports.ts';
import { newCustody, now, owner, utf8 } from '../../../../packages/pki/test/fixtures.ts';
import { nonceOf } from '../../../../src/transactions/ids.ts';
import type { ReportEntry } from '../../charts/process-report.ts';
import { createEvidenceMaker, type EndedProcess } from '../../evidence/create-evidence.ts';
import { type Evidence, evidenceType } from '../../evidence/evidence.ts';

export const minute = 60_000;
export const definition: {
  readonly text: string;
  readonly steps: readonly {
    readonly name: string;
    readonly need?: number;
    readonly signers: readonly {
      readonly key: string;
      readonly name: string;
      readonly msisdn: string;
      readonly text?: string;
    }[];
  }[];
} = {
  text: 'Contract 4711: I agree',
  steps: [
    {
      name: 'board',
      signers: [
        { key: 'board1', name: 'Anna', msisdn: '+41700092501' },
        {
          key: 'board2',
          name: 'Beat',
          msisdn: '+41700092502',
          text: 'Contract 4711: I agree, for the board',
        },
      ],
    },
    {
      name: 'witness',
      need: 1,
      signers: [
        { key: 'witness1', name: 'Chiara', msisdn: '+41700092503' },
        { key: 'witness2', name: 'Dora', msisdn: '+41700092504' },
      ],
    },
  ],
};

export const signed = async (
  custody: KeyCustody,
  entry: {
    readonly step: string;
    readonly key: string;
    readonly name: string;
    readonly msisdn: string;
    readonly text: string;
    readonly at: number;
  },
  {
    signer = entry.msisdn,
    expired = false,
  }: { readonly signer?: string; readonly expired?: boolean } = {},
): Promise<ReportEntry> => {
  const msspTransId = `H00${entry.key.padEnd(17, '0')}`;
  const key = await custody.userKey(owner({ msisdn: signer.slice(1), expired }));
  const cms = await signCms({ content: utf8(entry.text), key, nonce: nonceOf(msspTransId, 1) });
  const { name, msisdn, text, ...rest } = entry;
  const proof = { cms: Buffer.from(cms).toString('base64'), certificates: key.chain.id };
  return { ...rest, person: { name, msisdn, text }, msspTransId, attempt: 1, proof };
};

export const createStage = async (custody: KeyCustody = newCustody()) => {
  const [board, witness] = definition.steps;
  const people = [
    { ...board?.signers[0], step: 'board', key: 'board1', at: now + minute },
    { ...board?.signers[1], step: 'board', key: 'board2', at: now + 2 * minute },
    { ...witness?.signers[1], step: 'witness', key: 'witness2', at: now + 3 * minute },
  ];
  const signatures = await Promise.all(
    people.map(({ name = '', msisdn = '', text = definition.text, ...rest }) =>
      signed(custody, { ...rest, name, msisdn, text }),
    ),
  );
  const ended: EndedProcess = {
    id: 'contract-4711',
    name: 'process',
    definition,
    endedAt: now + 4 * minute,
    report: {
      id: 'abc-process--contract-4711',
      apId: 'mid://shop.example',
      outcome: 'completed',
      createdAt: now,
      steps: [
        { name: 'board', state: 'done' },
        { name: 'witness', state: 'done' },
      ],
      signatures,
      refusals: [],
    },
  };
  const make = createEvidenceMaker({
    issuer: 'https://sign.example',
    custody,
    findOwn: async () => undefined,
  });
  const evidence = await make(ended);
  const roots = await custody.trust();
  return { custody, ended, make, evidence, roots };
};

export const contentOf = (evidence: string): Evidence =>
  JSON.parse(Buffer.from(evidence.split('.')[1] ?? '', 'base64url').toString());

export const headerOf = (evidence: string): { alg: string; typ: string; x5c: readonly string[] } =>
  JSON.parse(Buffer.from(evidence.split('.')[0] ?? '', 'base64url').toString());

export const signJws = async (
  privateKey: PrivateKey,
  header: unknown,
  content: unknown,
): Promise<string> => {
  const signed = [header, content].map((part) =>
    Buffer.from(JSON.stringify(part)).toString('base64url'),
  );
  const signature = await privateKey.sign(Buffer.from(signed.join('.')), 'ES256');
  return [...signed, Buffer.from(signature).toString('base64url')].join('.');
};

/** The content under a good signature of the service: what a service that lies could make. */
export const resign = async (
  custody: KeyCustody,
  content: unknown,
  header: Readonly<Record<string, unknown>> = {},
): Promise<string> => {
  const { privateKey, certificates } = await custody.evidenceKey();
  const x5c = certificates.map((der) => Buffer.from(der).toString('base64'));
  return signJws(privateKey, { alg: 'ES256', typ: evidenceType, x5c, ...header }, content);
};
