/** What the OpenAPI document says of processes where it describes workflows. */
import type { HostedWords } from '../workflows/index.ts';

const definition = {
  title: 'Contract 4711',
  text: 'Contract 4711: I agree',
  steps: [{ name: 'board', signers: [{ name: 'Anna Muster', msisdn: '+41700092501' }] }],
};

export const processWords: HostedWords = {
  kinds: 'signature processes',
  start: ', such as a signature process',
  names: '`process`',
  input: ', of `process` the definition of the signature process',
  context:
    '; of `process` the steps and their signers, with `at` in ISO 8601 and, where one process is asked for, the `link` to the page of each signer who may still sign',
  output: '; of `process` with the steps as in `context` and the evidence, a compact JWS',
  examples: {
    start: { summary: 'One person signs', value: { id: 'contract-4711', input: definition } },
    event: {
      summary: 'Ask a signer once more',
      value: { type: 'AGAIN', step: 'board', key: '1' },
    },
    as: { start: 'process', event: 'again' },
  },
};
