/** Certificates of people: looked up by number, revoked, renewed; a number with a new owner. */
import { type Context, Hono } from 'hono';
import { z } from 'zod';
import {
  type IssuedCertificate,
  revocationReasons,
  rollOverKinds,
} from '../../packages/pki/src/ports.ts';
import { type AdminRefusal, answer, refuse } from '../../src/console/answers.ts';
import type { AdminApiDeps, ConsoleEnvironment } from '../../src/console/deps.ts';
import { json, msisdn, msisdnIn, query, readForm, reason } from '../../src/console/input.ts';
import { createLookUps } from '../../src/console/look-ups.ts';
import { isConfirmed } from '../../src/console/pages/confirm-page.ts';
import { readNotice } from '../../src/console/pages/notices.ts';
import { needs } from '../../src/console/session/session.ts';
import type { CertificateNotice } from './notices.ts';
import type { CertificateError, CertificateResult, Certificates } from './orders.ts';
import { certificatesPage, reassignPage, revokePage, type ShownCertificate } from './page.ts';

const serial = z.string().regex(/^[0-9a-fA-F]{2,42}$/, { error: 'must be hexadecimal' });

const numberOrSerial = z.strictObject({ msisdn: msisdn.optional(), serial: serial.optional() });
const target = z.union([z.strictObject({ msisdn }), z.strictObject({ serial })]);
const revokeBody = numberOrSerial.extend({
  reason: z.enum(revocationReasons),
  why: reason.optional(),
});
const numberBody = z.strictObject({ msisdn, why: reason.optional() });

const rollOverBody = z.strictObject({ kind: z.enum(rollOverKinds), why: reason.optional() });

const refusals: Readonly<Record<CertificateError, AdminRefusal>> = {
  unknown: [404, 'unknown', 'There is no such certificate'],
  nothing: [409, 'nothing', 'None of its certificates can be revoked or renewed any more'],
};

const notices: Readonly<Record<CertificateError, CertificateNotice>> = {
  unknown: 'certificate-unknown',
  nothing: 'certificate-nothing',
};

/** The shown form of a certificate. A revoked one stays `revoked` after its validity. */
const shown = (
  { msisdn: _, revocation, ...certificate }: IssuedCertificate,
  at: number,
): ShownCertificate => ({
  ...certificate,
  state: revocation === undefined ? (certificate.notAfter > at ? 'good' : 'over') : 'revoked',
  ...(revocation !== undefined && { reason: revocation.reason, revokedAt: revocation.at }),
});

const present = (result: CertificateResult): Response =>
  'refused' in result ? refuse(...refusals[result.refused]) : answer(result);

export const createCertificateRoutes = ({
  certificates,
  numberName,
  audit,
  now,
}: { readonly certificates: Certificates } & Pick<
  AdminApiDeps,
  'numberName' | 'audit' | 'now'
>): Hono<ConsoleEnvironment> => {
  const routes = new Hono<ConsoleEnvironment>();
  const noteLookUp = createLookUps({ audit, numberName });
  const list = async (wanted: z.output<typeof target>): Promise<readonly ShownCertificate[]> =>
    (await certificates.list(wanted)).map((each) => shown(each, now()));

  routes.get('/admin/api/certificates', needs('operator'), query(numberOrSerial), async (c) => {
    const wanted = target.safeParse(c.req.valid('query'));
    if (!wanted.success) return refuse(400, 'bad-request', 'Either msisdn or serial is needed');
    const asked = 'msisdn' in wanted.data ? wanted.data.msisdn : undefined;
    await noteLookUp(c.get('session'), 'certificates', asked);
    return answer({ certificates: await list(wanted.data) });
  });

  routes.post('/admin/api/certificates/revoke', needs('operator'), json(revokeBody), async (c) => {
    const { reason: because, why, ...about } = c.req.valid('json');
    const wanted = target.safeParse(about);
    if (!wanted.success) return refuse(400, 'bad-request', 'Either msisdn or serial is needed');
    return present(await certificates.revoke(c.get('session').operator, wanted.data, because, why));
  });

  for (const order of ['renew', 'reassign'] as const) {
    routes.post(
      `/admin/api/certificates/${order}`,
      needs('operator'),
      json(numberBody),
      async (c) => {
        const { msisdn: number, why } = c.req.valid('json');
        return present(await certificates[order](c.get('session').operator, number, why));
      },
    );
  }

  routes.get('/admin/api/authorities', needs('viewer'), async () =>
    answer({ authorities: await certificates.authorities() }),
  );

  routes.post('/admin/api/authorities/roll-over', needs('admin'), json(rollOverBody), async (c) => {
    const { kind, why } = c.req.valid('json');
    return answer(await certificates.rollOver(c.get('session').operator, kind, why));
  });

  routes.get('/admin/certificates', needs('operator'), async (c) => {
    const written = (c.req.query('msisdn') ?? '').trim();
    const number = msisdnIn(written);
    await noteLookUp(c.get('session'), 'certificates', number);
    return c.html(
      certificatesPage({
        session: c.get('session'),
        msisdn: number ?? written.slice(0, 40),
        certificates: number === undefined ? undefined : await list({ msisdn: number }),
        authorities: number === undefined ? await certificates.authorities() : [],
        now: now(),
        isWrong: written !== '' && number === undefined,
        notice: readNotice(c.req.query('notice'), c.get('session').frame),
      }),
    );
  });

  const backWith = (
    c: Context<ConsoleEnvironment>,
    number: string,
    notice: CertificateNotice,
  ): Response =>
    c.redirect(`/admin/certificates?${new URLSearchParams({ msisdn: number, notice })}`, 303);

  const noticeOf = (result: CertificateResult, done: CertificateNotice): CertificateNotice =>
    'refused' in result ? notices[result.refused] : done;

  /** Reads a form about one number. Undefined when the text is not a number. */
  const readOrder = async (c: Context<ConsoleEnvironment>) => {
    const form = await readForm(c);
    const number = msisdn.safeParse(form.msisdn);
    if (!number.success) return undefined;
    return { form, number: number.data, why: (form.why ?? '').trim().slice(0, 500) };
  };

  const goodOf = async (wanted: z.output<typeof target>): Promise<readonly ShownCertificate[]> =>
    (await list(wanted)).filter(({ state }) => state === 'good');

  routes.post('/admin/certificates/revoke', needs('operator'), async (c) => {
    const order = await readOrder(c);
    if (order === undefined) return backWith(c, '', 'certificate-unknown');
    const { form, number, why } = order;
    // A damaged serial number must not become an order about all certificates of the number.
    const one = serial.optional().safeParse(form.serial);
    if (!one.success) return backWith(c, number, 'certificate-unknown');
    const about = one.data === undefined ? { msisdn: number } : { serial: one.data };
    const because = revocationReasons.find((each) => each === form.reason);
    if (!isConfirmed(form) || because === undefined) {
      const session = c.get('session');
      const good = await goodOf(about);
      if (good.length === 0) return backWith(c, number, 'certificate-nothing');
      const problem = isConfirmed(form) ? 'reason' : undefined;
      const model = {
        session,
        msisdn: number,
        serial: one.data,
        certificates: good,
        why,
        problem,
      } as const;
      return c.html(revokePage(model), problem === undefined ? 200 : 422);
    }
    const { operator } = c.get('session');
    const result = await certificates.revoke(operator, about, because, why || undefined);
    return backWith(c, number, noticeOf(result, 'certificate-revoked'));
  });

  routes.post('/admin/certificates/reassign', needs('operator'), async (c) => {
    const order = await readOrder(c);
    if (order === undefined) return backWith(c, '', 'certificate-unknown');
    const { form, number, why } = order;
    const session = c.get('session');
    if (!isConfirmed(form) || why === '') {
      const good = await goodOf({ msisdn: number });
      const belongings = await certificates.belongingsOf(number);
      const problem = isConfirmed(form) ? 'why' : undefined;
      const model = {
        session,
        msisdn: number,
        serial: undefined,
        certificates: good,
        why,
        problem,
      } as const;
      return c.html(reassignPage(model, belongings), problem === undefined ? 200 : 422);
    }
    const result = await certificates.reassign(session.operator, number, why);
    return backWith(c, number, noticeOf(result, 'certificate-reassigned'));
  });

  routes.post('/admin/certificates/renew', needs('operator'), async (c) => {
    const order = await readOrder(c);
    if (order === undefined) return backWith(c, '', 'certificate-unknown');
    const result = await certificates.renew(
      c.get('session').operator,
      order.number,
      order.why || undefined,
    );
    return backWith(c, order.number, noticeOf(result, 'certificate-renewed'));
  });

  return routes;
};
