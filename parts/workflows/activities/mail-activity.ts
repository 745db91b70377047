/** The activity `sendMail` of workflows, and what all activities that send mails share. */
import { type ActivityPolicy, activity, type Gate } from '../../../packages/engine/src/define.ts';
import { type Mail, MailError, type Mailer, type MailResult, mailSchema } from '../mail.ts';

/** Connections to the mail server at a time, of one process. */
const maxConnections = 5;
const placeWaitMs = 500;

/** A place for each connection. */
export const createMailGate = (): Gate => {
  let free = maxConnections;
  return {
    turn: () => {
      if (free === 0) return { kind: 'wait', ms: placeWaitMs };
      free -= 1;
      return {
        kind: 'place',
        end: () => {
          free += 1;
        },
      };
    },
  };
};

/** Twenty tries: pauses of 5 s, 10 s … up to an hour, together some ten hours. */
export const mailPolicy: ActivityPolicy = {
  attempts: 20,
  backoffMs: 5000,
  maxBackoffMs: 3_600_000,
};

/**
 * The activity `service.sendMail` of charts of one's own. A mail that is none, such as one without
 * an address, is refused without a code.
 */
export const createSendMail = (mailer: Mailer | undefined, gate: Gate) =>
  activity<Mail, MailResult>(
    async ({ input, token, signal }) => {
      if (mailer === undefined) throw new MailError('mail is not configured');
      const { data } = mailSchema.safeParse(input);
      return data === undefined ? { kind: 'refused' } : mailer.send(token, data, signal);
    },
    { ...mailPolicy, gate },
  );
