/**
 * `paraph subscribers`: people with phones in browsers: invite a number, look at its phones, remove
 * one.
 */

import { e164 } from '../../packages/protocol/src/schemas/common.ts';
import { secretActions } from '../../src/command-line/admin.ts';
import { type AddCommand, ok, UsageError } from '../../src/command-line/context.ts';
import type { PartCommands } from '../../src/command-line/part-commands.ts';
import { type Column, type Field, fieldsText, table } from '../../src/command-line/screen.ts';
import { parseOneOf } from '../../src/command-line/transactions-filter.ts';
import { pageLanguages } from '../../src/http/pages/languages.ts';
import type { NumberView } from './views.ts';

type PhoneView = NumberView['phones'][number];

const columns: readonly Column<PhoneView>[] = [
  { title: 'PHONE', cell: ({ id }) => id },
  { title: 'LABEL', cell: ({ label }) => label },
  { title: 'GUARDED BY', cell: ({ gate, blocked }) => (blocked ? `${gate}, blocked` : gate) },
  { title: 'ENROLLED', cell: ({ enrolledAt }) => enrolledAt },
  { title: 'CERTIFICATE UNTIL', cell: ({ certificateEndsAt }) => certificateEndsAt },
];

/** @throws UsageError that does not repeat what was written. */
const checkNumber = (written: string): void => {
  if (!e164.test(written))
    throw new UsageError('The number must have its country code: +41791234567.');
};

const addSubscribers: AddCommand = (program, context, done) => {
  const addAction = secretActions(context, done);
  const subscribers = program.command('subscribers').description('people whose phone is a browser');
  const invite = subscribers
    .command('invite <number>')
    .description('print a link that makes one browser a phone of the number; ends earlier links')
    .option(
      '--language <code>',
      'of the person: en, de, fr or it',
      parseOneOf('--language', pageLanguages),
    );
  addAction<[string, { readonly language?: string }]>(
    invite,
    async (admin, number, { language }) => {
      const path = ['subscribers', number, 'invitations'];
      const told = await admin.post<{ link: string; expiresAt: string }>(path, {
        ...(language !== undefined && { language }),
      });
      const fields: readonly Field[] = [
        ['link', told.link],
        ['', 'Good for one browser. Whoever opens it signs for the number.'],
        ['expires', told.expiresAt],
      ];
      const text = fieldsText(fields, context);
      if (!context.stdout.isTTY) return ok(told, text);
      const { renderUnicodeCompact } = await import('uqr');
      return ok(told, `${text}\n${renderUnicodeCompact(told.link, { border: 2 })}\n`);
    },
    checkNumber,
  );
  addAction<[string]>(
    subscribers.command('show <number>').description('list the phones of a number'),
    async (admin, number) => {
      const view = await admin.get<NumberView>(['subscribers', number]);
      const invited =
        view.invitedUntil === undefined
          ? ''
          : `An invitation is open until ${view.invitedUntil}.\n`;
      const text = view.phones.length === 0 ? 'No phones.\n' : table(columns, view.phones, context);
      return ok(view, `${text}${invited}`);
    },
    checkNumber,
  );
  addAction<[string, string]>(
    subscribers.command('remove <number> <phone>').description('end a phone; show lists their ids'),
    async (admin, number, phone) => {
      await admin.delete(['subscribers', number, 'phones', phone]);
      return ok({ result: 'removed' }, 'Removed.\n');
    },
    checkNumber,
  );
};

export const phoneCommands: PartCommands = {
  add: { 'Administer:': [addSubscribers] },
  examples: {},
  errors: { 'subscribers unknown': 'unknown-phone' },
};
