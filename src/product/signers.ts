/**
 * The pages of signers for the API, and their links and mails for the workers.
 */
import type { IncomingMessage } from 'node:http';
import type { Gate, Workflow } from '../../packages/engine/src/define.ts';
import type { Engine } from '../../packages/engine/src/engine.ts';
import { isLocalMailServer } from '../configuration/mail.ts';
import { type Mailer, openMailer } from '../mail.ts';
import type { Tenants } from '../oauth/tenant.ts';
import { loginApId } from '../registry/login-ap-id.ts';
import type { Source } from '../registry/rate-limiter.ts';
import { createTaskLinks, linkTo } from '../tasks/links.ts';
import { readMailTemplates } from '../tasks/mail-templates.ts';
import { createMailLog, createSignerMails } from '../tasks/signer-mail.ts';
import { createTaskRoutes } from '../tasks/tasks.route.ts';
import { createTasks } from '../tasks/tasks.ts';
import type { Core } from './core.ts';

/** Gives the public address of this service; undefined when this process does not know it. */
export type PublicUrl = () => string | undefined;

/** Gives the display name of an application; for a login, the name of its tenant. */
export const namesOf = ({
  configuration: { applicationProviders, oidc },
}: Pick<Core, 'configuration'>) => {
  const names = new Map([
    ...applicationProviders.map(({ id, name }) => [id, name ?? id] as const),
    ...oidc.tenants.map(({ id, name }) => [loginApId(id), name] as const),
  ]);
  return (apId: string): string => names.get(apId) ?? apId;
};

/** The frame of pages outside of a login: name and branding of the first tenant. */
export const frameOf = (tenants: Tenants) => () => {
  const { settings, path } = tenants.main;
  return { tenantName: settings.name, branding: settings.branding, path };
};

/** Opens the routes of `/tasks`, with the branding of the first tenant. */
export const openSignerPages = (
  core: Core,
  options: {
    readonly engine: Pick<Engine, 'find' | 'send'>;
    /** The workflow of the stock process. */
    readonly workflow: Workflow;
    readonly tenants: Tenants;
    readonly publicUrl: () => string;
    readonly addressOf: (incoming: IncomingMessage | undefined) => Source;
  },
) => {
  const { configuration, serviceKey, commands, now, onError } = core;
  const { http } = configuration;
  const { engine, workflow, tenants, publicUrl, addressOf } = options;
  return createTaskRoutes({
    tasks: createTasks({ engine, workflow, applicationName: namesOf(core), now }),
    links: createTaskLinks(serviceKey),
    frame: frameOf(tenants),
    limiter: core.limiterOver(commands),
    body: { maxBytes: http.maxBodyBytes, timeoutMs: http.requestTimeoutSeconds * 1000 },
    publicUrl,
    addressOf,
    now,
    onError,
  });
};

/** @throws MailFileError for a password file that cannot be read. */
export const openMail = ({ configuration: { mail, sandbox } }: Core): Mailer | undefined =>
  mail && openMailer(mail, { plainAllowed: sandbox || isLocalMailServer(mail.url) });

/**
 * @returns Undefined where no mail server is configured.
 * @throws MailFileError for templates that are not usable.
 */
export const openSignerMails = (
  core: Core,
  {
    mailer,
    ...options
  }: {
    readonly engine: Pick<Engine, 'find' | 'send' | 'start'>;
    readonly processWorkflow: () => Workflow;
    readonly mailer: Mailer | undefined;
    readonly gate: Gate;
    readonly publicUrl: PublicUrl;
  },
) =>
  mailer &&
  createSignerMails({
    ...options,
    mailer,
    links: createTaskLinks(core.serviceKey),
    now: core.now,
    applicationName: namesOf(core),
    fillTemplate: templatesOf(core),
    log: createMailLog(core.eventLog),
  });

const templatesOf = ({ configuration: { mail } }: Core) =>
  mail?.templates === undefined ? undefined : readMailTemplates(mail.templates);

/**
 * @returns A function that gives the address of a signer's page; undefined when this process does
 *   not know the public address.
 */
export const createSignerLinks = ({ serviceKey }: Core, publicUrl: PublicUrl) => {
  const links = createTaskLinks(serviceKey);
  return (signer: string, linkVersion: number): string | undefined => {
    const url = publicUrl();
    return url && linkTo(url, links.tokenFor({ instance: signer, version: linkVersion }));
  };
};
