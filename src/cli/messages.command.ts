/**
 * `paraph messages`: the text messages that were sent to a number, for developers without a phone.
 *
 * There is no HTTP for this on purpose: the texts hold passwords. With access to Redis they can be
 * read anyway.
 */
import {
  type AddCommand,
  type CliContext,
  ok,
  type Report,
  UsageError,
} from '../command-line/context.ts';
import { worksAt } from '../command-line/place.ts';
import { type Field, fieldsText, printable } from '../command-line/screen.ts';
import { readOutbox } from '../sscd/text-gateway.ts';
import { usableConfiguration } from './configuration-file.ts';
import { withServiceRedis } from './service-redis.ts';

const messages = async (context: CliContext, msisdn: string): Promise<Report> => {
  const number = /^\+?(\d{7,15})$/.exec(msisdn)?.[1];
  if (number === undefined)
    throw new UsageError('The number must be in E.164, such as +41700092501.');
  const { otp, queue } = await usableConfiguration(context);
  if (otp.gateway.kind !== 'outbox') {
    throw new UsageError('This configuration sends messages by a webhook: they are not kept here.');
  }
  return withServiceRedis(context, async (redis) => {
    const found = await readOutbox(redis, queue.prefix, number, context.now());
    const fields = found.map(({ text, flash }): Field => [flash ? 'flash' : 'text', text]);
    const none = `No message to ${printable(msisdn)} in the last ten minutes.\n`;
    return ok({ msisdn, messages: found }, found.length === 0 ? none : fieldsText(fields, context));
  });
};

export const addMessages: AddCommand = (program, context, done) => {
  const command = program
    .command('messages')
    .description('show the text messages of the last ten minutes (on the machine of the service)')
    .argument('<msisdn>', 'mobile number that they were sent to')
    .action(async (msisdn: string) => done(await messages(context, msisdn)));
  worksAt('redis', command);
};
