/**
 * Sign requests as an application writes them, with `{{n}}` in AP_TransID where each has a number
 * of its own. And signature processes, as other programs add them.
 */
import { instanceIdOf } from '../../src/transactions/jobs/instance-ids.ts';

export const robots = { EC: '+41700092501', RSA: '+41700092502' } as const;

export interface SignTemplateOptions {
  readonly mode: 'synch' | 'asynch';
  readonly msisdn?: string;
  readonly timeoutSeconds?: number;
  readonly apId?: string;
}

/** @returns The body as an object: what goes over HTTP, and into a job. */
export const signBody = ({
  mode,
  msisdn = robots.EC,
  timeoutSeconds = 60,
  apId = 'http://bench.example',
}: SignTemplateOptions) => ({
  MSS_SignatureReq: {
    MajorVersion: '1',
    MinorVersion: '2',
    AP_Info: { AP_ID: apId, AP_TransID: 'B{{n}}', Instant: new Date().toISOString() },
    MSSP_Info: { MSSP_ID: { URI: 'http://mid.vendor.ch/' } },
    MobileUser: { MSISDN: msisdn },
    MessagingMode: mode,
    SignatureProfile: 'http://mid.vendor.ch/Any-LoA4',
    TimeOut: String(timeoutSeconds),
    DataToBeSigned: {
      MimeType: 'text/plain',
      Encoding: 'UTF-8',
      Data: 'Example Shop: confirm order?',
    },
    AdditionalServices: [],
  },
});

export const signTemplate = (options: SignTemplateOptions): string =>
  JSON.stringify(signBody(options));

export interface ProcessShape {
  /** `order`: a step for each signer. `together`: one step with all of them. */
  readonly signers: 'order' | 'together';
  /** How many; three unless it says so. */
  readonly people?: number;
  readonly ask: 'now' | 'page';
  /** An instant, or a duration. */
  readonly deadline?: string;
  /** Numbers that signers take in turn: `numbers` of them, from `first` on; digits. */
  readonly first: number;
  readonly numbers: number;
}

export const processSigners = 3;
const processApId = 'http://bench.example';

/** Data of a job in the queue `workflows`. @param from Place of the first signer's number. */
export const processData = (shape: ProcessShape, from: number) => {
  const { signers, ask, deadline, first, numbers, people: count = processSigners } = shape;
  const people = Array.from({ length: count }, (_, index) => ({
    name: `Signer ${index + 1}`,
    msisdn: `+${first + ((from + index) % numbers)}`,
  }));
  const groups = signers === 'order' ? people.map((person) => [person]) : [people];
  const steps = groups.map((each, index) => ({ name: `Step ${index + 1}`, ask, signers: each }));
  const input = {
    text: 'Example Shop: confirm order?',
    ...(deadline !== undefined && { deadline }),
    steps,
  };
  return { apId: processApId, input };
};

export const newProcessId = (): string => instanceIdOf(processApId, 'process', uniqueNumber());

/** Ten digits for AP_TransID that no other call or process of the next hours gives. */
const first = Math.floor(Math.random() * 9_000_000_000) + 1_000_000_000;
let given = 0;

export const uniqueNumber = (): string => {
  given += 1;
  return String(1_000_000_000 + ((first + given) % 9_000_000_000));
};
