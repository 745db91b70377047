/**
 * `paraph certificates`: the certificates of people, and the authorities above them. Without a
 * token it needs the master key of the service, because serial numbers of people are sealed with
 * it.
 */

import {
  type RevocationReason,
  type RollOverKind,
  revocationReasons,
  rollOverKinds,
} from '../../packages/pki/src/ports.ts';
import { type Admin, secretActions } from '../../src/command-line/admin.ts';
import {
  type AddCommand,
  type CliContext,
  ok,
  type Report,
  UsageError,
} from '../../src/command-line/context.ts';
import type { PartCommands } from '../../src/command-line/part-commands.ts';
import { table } from '../../src/command-line/screen.ts';
import { confirm } from '../../src/command-line/terminal-input.ts';
import { parseOneOf } from '../../src/command-line/transactions-filter.ts';
import { iso, isoOrNull } from '../../src/command-line/transactions-row.ts';
import type { ShownAuthority } from './orders.ts';
import type { ShownCertificate } from './page.ts';

interface Flags {
  readonly msisdn?: string;
  readonly serial?: string;
  readonly reason?: RevocationReason;
  readonly why?: string;
  readonly yes?: true;
}

const targetOf = ({ msisdn, serial }: Flags) => ({ msisdn, serial });

const checkTarget = (flags: Flags): void => {
  if ((flags.msisdn === undefined) === (flags.serial === undefined)) {
    throw new UsageError('Which? Either all of one --msisdn, or the one of a --serial.');
  }
};

const dayOf = (at: number): string => iso(at).slice(0, 10);

const standing = ({ state, reason, revokedAt }: ShownCertificate): string =>
  revokedAt === undefined ? state : `${state} ${dayOf(revokedAt)} ${reason ?? ''}`;

const list = async (context: CliContext, admin: Admin, flags: Flags): Promise<Report> => {
  const { certificates } = await admin.get<{ certificates: readonly ShownCertificate[] }>(
    ['certificates'],
    targetOf(flags),
  );
  const columns = [
    { title: 'CERTIFICATE', cell: ({ serial }: ShownCertificate) => serial },
    {
      title: 'DEVICE',
      cell: ({ sscdId, algorithm }: ShownCertificate) => `${sscdId} ${algorithm}`,
    },
    { title: 'PERSON', cell: ({ serialNumber }: ShownCertificate) => serialNumber },
    { title: 'UNTIL', cell: ({ notAfter }: ShownCertificate) => dayOf(notAfter) },
    { title: 'STATE', cell: standing },
  ];
  const document = certificates.map(({ notBefore, notAfter, revokedAt, ...certificate }) => ({
    ...certificate,
    notBefore: iso(notBefore),
    notAfter: iso(notAfter),
    revokedAt: isoOrNull(revokedAt),
  }));
  const text =
    certificates.length === 0 ? 'No certificates.\n' : table(columns, certificates, context);
  return ok({ certificates: document }, text);
};

const listAuthorities = async (context: CliContext, admin: Admin): Promise<Report> => {
  const { authorities } = await admin.get<{ authorities: readonly ShownAuthority[] }>([
    'authorities',
  ]);
  const columns = [
    { title: 'AUTHORITY', cell: ({ id }: ShownAuthority) => id },
    { title: 'FROM', cell: ({ notBefore }: ShownAuthority) => dayOf(notBefore) },
    { title: 'UNTIL', cell: ({ notAfter }: ShownAuthority) => dayOf(notAfter) },
    { title: 'SHA-256', cell: ({ fingerprint }: ShownAuthority) => fingerprint },
  ];
  const document = authorities.map(({ notBefore, notAfter, ...authority }) => ({
    ...authority,
    notBefore: iso(notBefore),
    notAfter: iso(notAfter),
  }));
  return ok({ authorities: document }, table(columns, authorities, context));
};

/** The number of certificates, for sentences. */
const counted = (done: number): string => `${done} certificate${done === 1 ? '' : 's'}`;

const addCertificates: AddCommand = (program, context, done) => {
  const certificates = program
    .command('certificates')
    .description('certificates of people: list, revoke; authorities: list, roll over');
  const why = ['--why <text>', 'for the audit log'] as const;
  const action = secretActions(context, done);

  const ls = certificates
    .command('ls')
    .description('list the certificates of a number, oldest first')
    .option('--msisdn <number>', 'with its country code')
    .option('--serial <hex>', 'the one of this serial number');
  action(ls, (admin, flags: Flags) => list(context, admin, flags), checkTarget);

  const revoke = certificates
    .command('revoke')
    .description('revoke all certificates of a number, or one; for ever')
    .option('--msisdn <number>', 'all of this number')
    .option('--serial <hex>', 'the one of this serial number')
    .requiredOption(
      '--reason <reason>',
      `one of ${revocationReasons.join(', ')}`,
      parseOneOf('--reason', revocationReasons),
    )
    .option(...why)
    .option('--yes', 'do not ask');
  action(
    revoke,
    async (admin, flags: Flags) => {
      if (!flags.yes) await confirm(context, 'Revoke, for ever?', {});
      const { reason, why: words } = flags;
      const order = { ...targetOf(flags), reason, why: words };
      const answer = await admin.post<{ done: number }>(['certificates', 'revoke'], order);
      return ok(answer, `${counted(answer.done)} revoked.\n`);
    },
    checkTarget,
  );

  const renew = certificates
    .command('renew')
    .description('let devices whose certificate is revoked have a new key')
    .argument('<msisdn>', 'with its country code')
    .option(...why);
  action(renew, async (admin, msisdn: string, flags: Flags) => {
    const answer = await admin.post<{ done: number }>(['certificates', 'renew'], {
      msisdn,
      why: flags.why,
    });
    return ok(answer, `Allowed: the next use makes a new key for ${counted(answer.done)}.\n`);
  });

  const authorities = certificates
    .command('authorities')
    .description('list the roots and the issuing authorities, newest last');
  action(authorities, (admin) => listAuthorities(context, admin));

  const rollOver = certificates
    .command('roll-over')
    .description('make the next authority, or key of the service, before its time; for admins')
    .argument('<kind>', rollOverKinds.join(', '), parseOneOf('The kind', rollOverKinds))
    .option(...why)
    .option('--yes', 'do not ask');
  action(rollOver, async (admin, kind: RollOverKind, flags: Flags) => {
    if (!flags.yes) await confirm(context, `Make another ${kind} authority?`, {});
    const answer = await admin.post<{ id: string }>(['authorities', 'roll-over'], {
      kind,
      why: flags.why,
    });
    return ok(answer, `Made: ${answer.id} is used from now on.\n`);
  });

  const reassign = certificates
    .command('reassign')
    .description('the number belongs to another person now')
    .argument('<msisdn>', 'with its country code')
    .option(...why)
    .option('--yes', 'do not ask');
  action(reassign, async (admin, msisdn: string, flags: Flags) => {
    if (!flags.yes) await confirm(context, 'Give the number to a new person?', {});
    const order = { msisdn, why: flags.why };
    const answer = await admin.post<{ done: number }>(['certificates', 'reassign'], order);
    return ok(
      answer,
      `Done: ${counted(answer.done)} revoked; the next one has a new serial number.\n`,
    );
  });
};

export const certificateCommands: PartCommands = {
  add: { 'Administer:': [addCertificates] },
  examples: {},
  errors: {
    'certificates unknown': 'unknown-certificate',
    'certificates nothing': 'nothing-to-change',
  },
};
