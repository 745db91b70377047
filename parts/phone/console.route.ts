/** Phones in browsers: invite a number, list its phones, remove one. Page and API, for admins. */
import { type Context, Hono } from 'hono';
import { z } from 'zod';
import { type AdminRefusal, answer, refuse } from '../../src/console/answers.ts';
import type { AdminApiDeps, ConsoleEnvironment } from '../../src/console/deps.ts';
import { json, msisdnIn, readForm } from '../../src/console/input.ts';
import { createLookUps } from '../../src/console/look-ups.ts';
import { isConfirmed } from '../../src/console/pages/confirm-page.ts';
import { needs } from '../../src/console/session/session.ts';
import { pageLanguages } from '../../src/http/pages/languages.ts';
import type { PhoneOrders } from './orders.ts';
import { removePhonePage, type SubscribersModel, subscribersPage } from './page.ts';

const invitation = z.strictObject({ language: z.enum(pageLanguages).optional() });

const noNumber: AdminRefusal = [
  400,
  'bad-request',
  'msisdn must be a number with its country code',
];
const unknownNumber: AdminRefusal = [404, 'unknown', 'The number was never invited'];

const refusals: Readonly<Record<'configured' | 'no-address', AdminRefusal>> = {
  configured: [
    409,
    'configured',
    'The configuration has this number without an App of the kind phone',
  ],
  'no-address': [409, 'no-address', 'The service does not know its public address'],
};

export const createSubscriberRoutes = (
  phones: PhoneOrders,
  deps: Pick<AdminApiDeps, 'numberName' | 'audit'>,
): Hono<ConsoleEnvironment> => {
  const noteLookUp = createLookUps(deps);
  const routes = new Hono<ConsoleEnvironment>();
  const path = '/admin/api/subscribers/:msisdn';
  const numberIn = (c: Context<ConsoleEnvironment>): string | undefined =>
    msisdnIn(c.req.param('msisdn'));

  routes.get(path, needs('admin'), async (c) => {
    const msisdn = numberIn(c);
    if (msisdn === undefined) return refuse(...noNumber);
    await noteLookUp(c.get('session'), 'phones', msisdn);
    const number = await phones.find(msisdn);
    return number === undefined ? refuse(...unknownNumber) : answer(number);
  });

  routes.post(`${path}/invitations`, needs('admin'), json(invitation), async (c) => {
    const msisdn = numberIn(c);
    if (msisdn === undefined) return refuse(...noNumber);
    const invited = await phones.invite(
      c.get('session').operator,
      msisdn,
      c.req.valid('json').language,
    );
    if (invited.kind !== 'invited') return refuse(...refusals[invited.kind]);
    return answer(
      { link: invited.link, expiresAt: new Date(invited.expiresAt).toISOString() },
      201,
    );
  });

  routes.delete(`${path}/phones/:id`, needs('admin'), async (c) => {
    const msisdn = numberIn(c);
    if (msisdn === undefined) return refuse(...noNumber);
    const isDone = await phones.remove(c.get('session').operator, msisdn, c.req.param('id'));
    return isDone
      ? answer({ result: 'removed' })
      : refuse(404, 'unknown', 'There is no such phone');
  });

  const show = async (
    c: Context<ConsoleEnvironment>,
    more: Omit<SubscribersModel, 'session' | 'number'>,
    msisdn?: string,
    status: 200 | 422 = 200,
  ) => {
    const number = msisdn === undefined ? undefined : await phones.find(msisdn);
    return c.html(subscribersPage({ session: c.get('session'), number, ...more }), status);
  };

  routes.get('/admin/subscribers', needs('admin'), (c) => show(c, {}));

  // The number is in the body, so that it is in no address.
  routes.post('/admin/subscribers', needs('admin'), async (c) => {
    const form = await readForm(c);
    const { msisdn: written, act = 'find', phone = '' } = form;
    const msisdn = msisdnIn(written);
    if (msisdn === undefined) return show(c, { problem: 'number' }, undefined, 422);
    const session = c.get('session');
    const { operator } = session;
    if (act === 'remove') {
      const number = await phones.find(msisdn);
      const found = number?.phones.find(({ id }) => id === phone);
      if (!isConfirmed(form) && number !== undefined && found !== undefined) {
        return c.html(removePhonePage(session, number, found));
      }
      return (await phones.remove(operator, msisdn, phone))
        ? show(c, { notice: 'removed' }, msisdn)
        : show(c, { problem: 'phone' }, msisdn, 422);
    }
    if (act !== 'invite') {
      await noteLookUp(session, 'phones', msisdn);
      const isKnown = (await phones.find(msisdn)) !== undefined;
      return isKnown ? show(c, {}, msisdn) : show(c, { problem: 'unknown' }, undefined, 422);
    }
    const invited = await phones.invite(operator, msisdn, undefined);
    return invited.kind === 'invited'
      ? show(c, { invitation: { msisdn: `+${msisdn}`, ...invited } }, msisdn)
      : show(c, { problem: invited.kind }, msisdn, 422);
  });

  return routes;
};
