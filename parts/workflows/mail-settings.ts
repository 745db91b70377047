import { z } from 'zod';
import { isSecureAddress } from '../../src/registry/web-address.ts';

/** `mail`: the SMTP server of the service. */
const readServer = (text: string): URL | undefined => {
  if (!URL.canParse(text)) return undefined;
  const url = new URL(text);
  const { protocol, hostname, username, password, pathname, search, hash } = url;
  const isPlain = hostname !== '' && [username, password, search, hash].join('') === '';
  return /^smtps?:$/.test(protocol) && isPlain && ['', '/'].includes(pathname) ? url : undefined;
};

/** Whether mails may go to this server without TLS: it is on this machine. */
export const isLocalMailServer = (url: string): boolean =>
  isSecureAddress(url.replace(/^smtps?:/, 'http:'));

const sender = /^(?:[^<>@\r\n"]{1,100} <([^<>\s]+)>|([^<>\s]+))$/;

export const mailSettings = z
  .strictObject({
    url: z
      .string()
      .refine((text) => readServer(text) !== undefined, {
        error: 'must be smtp://host:port or smtps://host:port, without user and password',
      })
      .describe(
        'SMTP server. `smtps://` uses TLS from the start; `smtp://` requires STARTTLS, except on this machine and in a sandbox.',
      ),
    user: z
      .string()
      .min(1)
      .optional()
      .describe('User at that server. Without it there is no login.'),
    passwordFile: z
      .string()
      .min(1)
      .optional()
      .describe('File that holds the password of the user.'),
    from: z
      .string()
      .refine(
        (text) => {
          const [, named, bare] = sender.exec(text) ?? [];
          return z.email().safeParse(named ?? bare).success;
        },
        { error: 'must be an address, or a name and an address: Example <sign@example.com>' },
      )
      .describe('Sender: an address, or `Example <sign@example.com>`.'),
  })
  .refine(({ user, passwordFile }) => (user === undefined) === (passwordFile === undefined), {
    path: ['passwordFile'],
    error: 'must be set together with mail.user',
  });
