/**
 * Sends mails through the operator's SMTP server. A connection lasts for one mail.
 *
 * What the server says may quote the address, so errors name its reply code and the command only.
 */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { readSecretFile } from '../../src/environment/setting-file.ts';

export interface MailSettings {
  /** `smtp://host:587` (STARTTLS) or `smtps://host:465`. */
  readonly url: string;
  readonly user?: string | undefined;
  readonly passwordFile?: string | undefined;
  /** `address` or `Name <address>`. */
  readonly from: string;
}

export const mailSchema = z.object({
  to: z.email(),
  subject: z.string().min(1).max(200),
  text: z.string().max(100_000),
  html: z.string().max(100_000).optional(),
});
export type Mail = Readonly<z.infer<typeof mailSchema>>;

/**
 * refused: the server takes no such mail, now or later. `code` is its reply (RFC 5321 4.2);
 * undefined for what is no mail.
 */
export type MailResult =
  | { readonly kind: 'sent'; readonly messageId: string }
  | { readonly kind: 'refused'; readonly code?: number };

export interface Mailer {
  /**
   * @param id Names the mail: it has the same Message-ID each time that it is sent.
   * @throws MailError when a later try may succeed.
   */
  send(id: string, mail: Mail, signal?: AbortSignal): Promise<MailResult>;
}

/** A mail was not sent. The message names no address and no secret. */
export class MailError extends Error {
  override readonly name = 'MailError';
}

const timeouts = {
  dnsTimeout: 10_000,
  connectionTimeout: 10_000,
  greetingTimeout: 10_000,
  socketTimeout: 30_000,
};

const domainOf = (from: string): string => /@([^@>\s]+)>?\s*$/.exec(from)?.[1] ?? 'localhost';

/** Commands by which a server refuses this mail; by others it refuses us. */
const aboutMail: readonly (string | undefined)[] = ['RCPT TO', 'DATA'];

const replySchema = z.object({
  code: z.string().optional(),
  originalCode: z.string().optional(),
  command: z.string().optional(),
  responseCode: z.number().optional(),
  permanent: z.boolean().optional(),
});

/**
 * @param plainAllowed Whether `smtp://` may go on without TLS.
 * @throws SettingFileError for a password file that cannot be read.
 */
export const openMailer = (
  { url, user, passwordFile, from }: MailSettings,
  { plainAllowed }: { readonly plainAllowed: boolean },
): Mailer => {
  const { protocol, hostname, port } = new URL(url);
  const secure = protocol === 'smtps:';
  const password =
    passwordFile === undefined ? undefined : readSecretFile('mail.passwordFile', passwordFile);
  const settings = {
    ...timeouts,
    host: hostname.replace(/^\[(.*)\]$/, '$1'),
    port: Number(port || (secure ? 465 : 587)),
    secure,
    requireTLS: !secure && !plainAllowed,
    ...(user !== undefined && { auth: { user, pass: password } }),
    disableFileAccess: true,
    disableUrlAccess: true,
  };

  return {
    send: async (id, { to, subject, text, html }, signal) => {
      const messageId = `<${createHash('sha256').update(id).digest('base64url')}@${domainOf(from)}>`;
      // Loaded by the first mail: it is large, and most services send none.
      const { default: nodemailer } = await import('nodemailer');
      try {
        await nodemailer.createTransport(settings).sendMail({
          messageId,
          from,
          // An object, so that the text is not parsed as a list of addresses.
          to: { name: '', address: to },
          subject,
          text,
          html,
          // RFC 3834: programs must not answer it.
          headers: { 'Auto-Submitted': 'auto-generated' },
          ...(signal !== undefined && { signal }),
        });
        return { kind: 'sent', messageId };
      } catch (error) {
        const { data = {} } = replySchema.safeParse(error);
        const { code = 'no code', originalCode, command, responseCode, permanent } = data;
        if (responseCode !== undefined && permanent && aboutMail.includes(command))
          return { kind: 'refused', code: responseCode };
        const reason =
          responseCode === undefined
            ? `the mail server cannot be used (${originalCode ?? code})`
            : `the mail server has answered ${responseCode} to ${command ?? 'us'}`;
        throw new MailError(reason);
      }
    },
  };
};
