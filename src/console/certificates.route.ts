/** Certificates of people: looked up by number, revoked, renewed; a number with a new owner. */
import { type Context, Hono } from 'hono';
import { z } from 'zod';
import {
  type CertificateError,
  type CertificateResult,
  type Certificates,
  type IssuedCertificate,
  revocationReasons,
  rollOverKinds,
} from '../operators/certificates.ts';
import { answer, type Refusal, refuse } from './answers.ts';
import type { ConsoleEnvironment } from './deps.ts';
import { json, msisdn, msisdnIn, query, readForm, reason } from './input.ts';
import { certificatesPage, type ShownCertificate } from './pages/certificates-page.ts';
import { type Notice, readNotice } from './pages/notices.ts';
import { needs } from './session/session.ts';

const serial = z.string().regex(/^[0-9a-fA-F]{2,42}$/, { error: 'must be hexadecimal' });

const numberOrSerial = z.strictObject({ msisdn: msisdn.optional(), serial: serial.optional() });
const target = z.union([z.strictObject({ msisdn }), z.strictObject({ serial })]);
const revokeBody = numberOrSerial.extend({ reason: z.enum(revocationReasons), why: reason.optional() });
const numberBody = z.strictObject({ msisdn, why: reason.optional() });

const rollOverBody = z.strictObject({ kind: z.enum(rollOverKinds), why: reason.optional() });

const refusals: Readonly<Record<CertificateError, Refusal>> = {
  unknown: [404, 'unknown', 'There is no such certificate'],
  nothing: [409, 'nothing', 'No certificate of it can be changed like that any more'],
};

const notices: Readonly<Record<CertificateError, Notice>> = {
  unknown: 'certificate-unknown',
  nothing: 'certificate-nothing',
};

/** A revoked one stays revoked when it is over. */
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
  now,
}: {
  readonly certificates: Certificates;
  readonly now: () => number;
}): Hono<ConsoleEnvironment> => {
  const routes = new Hono<ConsoleEnvironment>();
  const list = async (wanted: z.output<typeof target>): Promise<readonly ShownCertificate[]> =>
    (await certificates.list(wanted)).map((each) => shown(each, now()));

  routes.get('/admin/api/certificates', needs('operator'), query(numberOrSerial), async (c) => {
    const wanted = target.safeParse(c.req.valid('query'));
    if (!wanted.success) return refuse(400, 'bad-request', 'Either msisdn or serial is needed');
    return answer({ certificates: await list(wanted.data) });
  });

  routes.post('/admin/api/certificates/revoke', needs('operator'), json(revokeBody), async (c) => {
    const { reason: because, why, ...about } = c.req.valid('json');
    const wanted = target.safeParse(about);
    if (!wanted.success) return refuse(400, 'bad-request', 'Either msisdn or serial is needed');
    return present(await certificates.revoke(c.get('session').operator, wanted.data, because, why));
  });

  for (const order of ['renew', 'reassign'] as const) {
    routes.post(`/admin/api/certificates/${order}`, needs('operator'), json(numberBody), async (c) => {
      const { msisdn: number, why } = c.req.valid('json');
      return present(await certificates[order](c.get('session').operator, number, why));
    });
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
    return c.html(
      certificatesPage({
        session: c.get('session'),
        msisdn: number ?? written.slice(0, 40),
        certificates: number === undefined ? undefined : await list({ msisdn: number }),
        isWrong: written !== '' && number === undefined,
        notice: readNotice(c.req.query('notice')),
      }),
    );
  });

  const backWith = (c: Context<ConsoleEnvironment>, number: string, notice: Notice): Response =>
    c.redirect(`/admin/certificates?${new URLSearchParams({ msisdn: number, notice })}`, 303);

  const done = { revoke: 'revoked', renew: 'renewed', reassign: 'reassigned' } as const;
  for (const order of ['revoke', 'renew', 'reassign'] as const) {
    routes.post(`/admin/certificates/${order}`, needs('operator'), async (c) => {
      const form = await readForm(c);
      const number = msisdn.safeParse(form.msisdn);
      if (!number.success) return backWith(c, '', 'certificate-unknown');
      const { operator } = c.get('session');
      const why = (form.why ?? '').trim().slice(0, 500) || undefined;
      const because = revocationReasons.find((each) => each === form.reason) ?? 'unspecified';
      const { data: one } = serial.optional().safeParse(form.serial);
      if (one !== form.serial) return backWith(c, number.data, 'certificate-unknown');
      const about = one === undefined ? { msisdn: number.data } : { serial: one };
      const result =
        order === 'revoke'
          ? await certificates.revoke(operator, about, because, why)
          : await certificates[order](operator, number.data, why);
      const notice = 'refused' in result ? notices[result.refused] : (`certificate-${done[order]}` as const);
      return backWith(c, number.data, notice);
    });
  }

  return routes;
};
