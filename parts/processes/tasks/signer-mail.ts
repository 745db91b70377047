/**
 * Mails with the link to a signer's page. Each mail is an instance of its own
 * (charts/mail.machine.ts), so a mail server that is away holds up no signature.
 */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import {
  type ActivityPolicy,
  activity,
  defineWorkflow,
  type Gate,
  type Workflow,
} from '../../../packages/engine/src/define.ts';
import { BusyError, type Engine } from '../../../packages/engine/src/engine.ts';
import type { EventLog } from '../../../src/telemetry/logger.ts';
import { createMailGate, MailError, type Mailer, mailPolicy } from '../../workflows/index.ts';
import {
  mailMachine,
  mailVersion,
  type SignerMail,
  type SignerMailResult,
  signerMailSchema,
  type Undelivered,
} from '../charts/mail.machine.ts';
import type { SignerNotice } from '../charts/signer-contract.ts';
import { mailWorkflowName } from '../names.ts';
import { invitationMail } from './invitation.ts';
import { linkTo, type TaskLinks } from './links.ts';
import type { FillTemplate } from './mail-templates.ts';
import { findSigner, languageOf, stateOf } from './tasks.ts';

/** Names mails by their instances; no address, no text, no link. */
export interface MailLog {
  sent(id: string): void;
  /** The server takes no mail for this address. `code` is its reply. */
  refused(id: string, code: number | undefined): void;
}

/** Names mails by id: addresses of people are not logged. */
export const createMailLog = (log: EventLog): MailLog => ({
  sent: (mail) => log.info({ mail }, 'mail sent'),
  refused: (mail, code) => log.warn({ mail, code }, 'mail refused by the server'),
});

const inputSchema = z.object({ apId: z.string(), input: signerMailSchema });

export const createSignerMails = ({
  engine,
  processWorkflow,
  mailer,
  links,
  publicUrl,
  applicationName,
  fillTemplate,
  now,
  log,
  policy = mailPolicy,
  gate = createMailGate(),
}: {
  readonly engine: Pick<Engine, 'find' | 'send' | 'start'>;
  /** The workflow whose child a signer is. */
  readonly processWorkflow: () => Workflow;
  readonly mailer: Mailer;
  readonly links: TaskLinks;
  readonly publicUrl: () => string | undefined;
  readonly applicationName: (apId: string) => string;
  /** The operator's own template. Default: none, so all mails are those of the service. */
  readonly fillTemplate?: FillTemplate | undefined;
  readonly now: () => number;
  readonly log: MailLog;
  readonly policy?: ActivityPolicy;
  readonly gate?: Gate;
}) => {
  const send = activity<SignerMail, SignerMailResult>(
    async ({ input: { signer, what, linkVersion }, instance, signal }) => {
      const link = { instance: signer, version: linkVersion };
      const found = await findSigner(engine, link);
      const { email, name, language } = found?.context.person ?? {};
      if (found === undefined || email === undefined || name === undefined)
        return { kind: 'stale' };
      if (stateOf(found, now()).kind === 'ended') return { kind: 'stale' };
      const url = publicUrl();
      if (url === undefined) throw new MailError('the public address is not known');
      const { apId, process } = found.context;
      const invitation = {
        what,
        name,
        title: process.title,
        application: applicationName(apId),
        language: languageOf(language) ?? 'en',
        link: linkTo(url, links.tokenFor(link)),
      } as const;
      const mail = invitationMail(invitation, fillTemplate);
      const result = await mailer.send(instance.id, { to: email, ...mail }, signal);
      if (result.kind === 'sent') log.sent(instance.id);
      else log.refused(instance.id, result.code);
      return result;
    },
    { ...policy, gate },
  );
  const tellSigner = async (given: unknown, { signer: id, code }: Undelivered): Promise<void> => {
    const { effect } = given as { readonly effect: { readonly id: string } };
    const event = { type: 'UNDELIVERED', code };
    // One that has ended need not know.
    const sent = await engine.send(processWorkflow(), id, `mail/${effect.id}`, event);
    if (sent === 'busy') throw new BusyError();
  };
  const workflow: Workflow = defineWorkflow({
    name: mailWorkflowName,
    version: mailVersion,
    // The process shows a mail that was not delivered.
    journal: false,
    chart: mailMachine.provide({
      actors: { send },
      actions: { tellSigner: (given, told) => tellSigner(given, told) as never },
    }),
    input: inputSchema,
    begin: ({ input }: z.infer<typeof inputSchema>): SignerMail => input,
    reasonOf: () => 'the mail server could not be used',
  });
  return {
    /** The workflow that {@link order} starts, which the worker of its queue runs. */
    workflow,
    /**
     * Orders the mail of a notice. Does nothing for a signer without an address.
     *
     * @param signer The signer's address. It begins with the tenant.
     * @param effectId Of the notice: ordered again under it, the mail is sent once.
     */
    order: async (
      signer: string,
      effectId: string,
      { what, apId, person, linkVersion }: SignerNotice,
    ): Promise<void> => {
      if ((what !== 'invited' && what !== 'reminded') || person.email === undefined) return;
      const id = `${signer.slice(0, 12)}-${mailWorkflowName}--${createHash('sha256').update(effectId).digest('base64url').slice(0, 22)}`;
      await engine.start(workflow, id, { apId, input: { signer, what, linkVersion } });
    },
  };
};
