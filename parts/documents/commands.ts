/** `paraph sign-pdf` and `paraph verify`. */
import type { PartCommands } from '../../src/command-line/part-commands.ts';
import { addSignPdf } from './cli/sign-pdf.command.ts';
import { addVerify } from './cli/verify.command.ts';

export const documentCommands: PartCommands = {
  add: { 'Sign:': [addSignPdf, addVerify] },
  examples: {
    'sign-pdf': [
      'contract.pdf +41700092501 +41700092502 --out signed.pdf',
      'lease.pdf "Anna=+41700092501" --out signed.pdf --lang de',
    ],
    verify: ['signed.pdf --trust root.pem'],
  },
};
