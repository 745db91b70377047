/** `/phone/api/`: what the phone in the browser asks of the service. */
import { Hono } from 'hono';
import type { z } from 'zod';
import { streamHeaders } from '../../src/http/pages/event-stream.ts';
import { answerJson } from '../../src/http/pages/headers.ts';
import type { Joined } from '../../src/oauth/interaction/device-start.ts';
import type { Source } from '../../src/registry/rate-limiter.ts';
import type { Activations } from './activations.ts';
import type { Connections } from './connections.ts';
import type { EnrolmentError, EnrolmentResult } from './enrolment.ts';
import {
  createPageRequests,
  type Handle,
  type PageContext,
  type PageEnvironment,
  type PageRequestsOptions,
  type PhoneHandle,
  refuse,
} from './page-requests.ts';
import type { Passkeys } from './passkeys.ts';
import type { Phone, Phones } from './phones.ts';
import type { Pins } from './pins.ts';
import {
  type EnrolmentRequest,
  enrolmentRequest,
  joinRequest,
  optionsRequest,
  pinRequest,
  pushRequest,
  receiptRequest,
  recoveryRequest,
  signatureRequest,
} from './requests.ts';
import type { FailOpen, Signing, SigningResult } from './signing.ts';
import { maskedNumber, type Views } from './views.ts';

/** A phone that wants to begin the login of a browser, and what its own browser says of itself. */
export interface JoiningPhone {
  readonly phone: Phone;
  readonly code: string;
  /** The Cookie header. */
  readonly cookies: string | undefined;
  readonly acceptLanguage: string | undefined;
  readonly address: Source;
}

export interface PhoneRoutesOptions extends PageRequestsOptions {
  readonly phones: Phones;
  readonly activations: Pick<Activations, 'stateOf'>;
  readonly passkeys: Passkeys;
  readonly pins: Pins;
  readonly signing: Signing;
  readonly failOpen: FailOpen;
  readonly views: Views;
  readonly connections: Connections;
  readonly enrol: (request: EnrolmentRequest) => Promise<EnrolmentResult>;
  /** Un-enrols a phone. */
  readonly remove: (phone: Phone) => Promise<void>;
  /** Answers `unknown` also for a code that is malformed, of another browser, or too old. */
  readonly join: (phone: JoiningPhone) => Promise<Joined>;
  /** The number's phones have changed. */
  readonly tellState: (msisdn: string) => Promise<void>;
  /** A link for the sandbox's own number; undefined outside of a sandbox. */
  readonly selfService: (() => Promise<string>) | undefined;
}

const enrolmentErrors: Readonly<
  Record<EnrolmentError, readonly [status: number, message: string]>
> = {
  code: [404, 'This code is unknown, used or expired'],
  request: [400, 'request must be a PKCS #10 of a P-256 key that has signed it'],
  gate: [403, 'gate.response does not prove that the user was verified'],
  'too-many': [409, 'The number has as many phones as it may have'],
};

export const createPhoneRoutes = (options: PhoneRoutesOptions): Hono<PageEnvironment> => {
  const { phones, activations, cookies, passkeys, pins, signing, views, connections } = options;
  const { cookieHeader, limited, read, guarded, withPhone, renewedCookie } =
    createPageRequests(options);
  const routes = new Hono<PageEnvironment>();

  /** Adds a route that any visitor of our page may use. */
  const on = (method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string, handle: Handle): void => {
    routes.on(method, `/phone/api/${path}`, guarded(handle));
  };
  /** Adds a route for enrolled phones. */
  const onPhone = (method: Parameters<typeof on>[0], path: string, handle: PhoneHandle): void =>
    on(method, path, withPhone(handle));
  /** Adds a route for enrolled phones that checks the body with a schema. */
  const onSent = <Schema extends z.ZodType>(
    method: 'POST' | 'PUT',
    path: string,
    schema: Schema,
    handle: (c: PageContext, phone: Phone, sent: z.output<Schema>) => Promise<Response>,
  ): void =>
    onPhone(method, path, async (c, phone) => {
      const sent = await read(c, schema);
      return sent instanceof Response ? sent : handle(c, phone, sent);
    });

  on('POST', 'enrolments/options', async (c) => {
    const asked = await read(c, optionsRequest);
    if (asked instanceof Response) return asked;
    return (
      (await limited(c)) ??
      answerJson({ publicKey: await passkeys.creationOptions(asked.code.id, 'Paraph') })
    );
  });

  on('POST', 'enrolments/state', async (c) => {
    const asked = await read(c, optionsRequest);
    if (asked instanceof Response) return asked;
    const state = await activations.stateOf(asked.code.id);
    // Codes that are good do not count: people behind one address set up phones at a time.
    const refused = state === 'open' ? undefined : await limited(c);
    return refused ?? answerJson({ state });
  });

  on('POST', 'enrolments', async (c) => {
    const asked = await read(c, enrolmentRequest);
    if (asked instanceof Response) return asked;
    const result = await options.enrol(asked);
    if (result.kind === 'refused') {
      const [status, message] = enrolmentErrors[result.why];
      return (await limited(c)) ?? refuse(status, result.why, message);
    }
    const { phone, secret, certificate, pin } = result;
    const { id, msisdn } = phone;
    const body = {
      phone: id,
      number: maskedNumber(msisdn),
      certificate: Buffer.from(certificate).toString('base64'),
      ...(pin && { pin: { share: pin.share }, recoveryCode: pin.recoveryCode }),
    };
    const cookie = cookies.write({ msisdn, phone: id, secret });
    return answerJson(body, 201, cookieHeader(cookie));
  });

  on('POST', 'activations', async (c) => {
    if (options.selfService === undefined) return refuse(404, 'unknown', 'Ask for an invitation');
    return (await limited(c)) ?? answerJson({ link: await options.selfService() }, 201);
  });

  onPhone('GET', 'state', async (c, phone) =>
    answerJson(await views.stateOf(phone), 200, renewedCookie(c)),
  );

  onPhone('GET', 'events', async (c, { msisdn, id }) => {
    // Hono runs GET for HEAD and drops the body, which nothing would end.
    if (c.req.method === 'HEAD') return new Response(null, { headers: streamHeaders });
    return (
      (await connections.open(msisdn, id)) ?? refuse(503, 'stopping', 'This process is stopping')
    );
  });

  onSent('POST', 'pin', pinRequest, async (_, phone, { verifier }) => {
    const result = await pins.enter(phone, verifier);
    switch (result.kind) {
      case 'right':
        return answerJson({ share: result.share });
      case 'wrong':
        return refuse(403, 'wrong-pin', 'The PIN is wrong', { triesLeft: result.triesLeft });
      case 'blocked': {
        // Also when an earlier try has blocked it: its answer may have been lost before this.
        await options.failOpen(phone.msisdn);
        await options.tellState(phone.msisdn);
        return refuse(403, 'blocked', 'The PIN is blocked; use the recovery code', {
          triesLeft: 0,
        });
      }
      case 'none':
        return refuse(409, 'no-pin', 'This phone has no PIN');
    }
  });

  onSent('POST', 'recovery', recoveryRequest, async (c, phone, sent) => {
    const recovered = await pins.recover(phone, sent);
    if (recovered === undefined)
      return (await limited(c)) ?? refuse(403, 'wrong-code', 'The recovery code is wrong');
    await options.tellState(phone.msisdn);
    return answerJson({ pin: { share: recovered.share }, recoveryCode: recovered.recoveryCode });
  });

  onSent('POST', 'logins', joinRequest, async (c, phone, { code }) => {
    const result = await options.join({
      phone,
      code,
      cookies: c.req.header('cookie'),
      acceptLanguage: c.req.header('accept-language'),
      address: options.addressOf(c.env?.incoming),
    });
    switch (result.kind) {
      case 'joined':
        return answerJson({ joined: true, returnTo: result.returnTo });
      case 'unknown':
        return (await limited(c)) ?? refuse(404, 'login', 'This code is unknown, used or too old');
      case 'number':
        return refuse(403, 'number', 'The application expects another person');
      case 'limited':
        return refuse(429, 'too-often', 'Too many logins; try again later');
      case 'busy':
        return refuse(503, 'busy', 'Try again');
    }
  });

  const outcome = (result: SigningResult, done: string): Response => {
    switch (result.kind) {
      case 'done':
        return answerJson({ outcome: done });
      case 'gone':
        return answerJson({ outcome: 'gone', why: result.why }, 409);
      case 'gate':
        return refuse(403, 'gate', 'Enter the PIN or use the passkey for this prompt');
      case 'wrong':
        return refuse(400, 'bad-signature', 'signature is not one of this phone over toBeSigned');
      case 'busy':
        return refuse(503, 'busy', 'Try again');
    }
  };

  const idOf = (c: PageContext): string => c.req.param('id') ?? '';

  onSent('POST', 'prompts/:id/signature', signatureRequest, async (c, phone, sent) =>
    outcome(await signing.sign(phone, idOf(c), sent), 'signed'),
  );

  onPhone('POST', 'prompts/:id/cancel', async (c, phone) =>
    outcome(await signing.cancel(phone, idOf(c)), 'cancelled'),
  );

  onSent('POST', 'prompts/:id/receipt', receiptRequest, async (c, phone, sent) =>
    outcome(await signing.react(phone, idOf(c), sent.outcome), sent.outcome),
  );

  onSent('PUT', 'push', pushRequest, async (_, phone, subscription) => {
    await phones.setSubscription(phone, subscription);
    return answerJson({ subscribed: true });
  });

  onPhone('DELETE', 'push', async (_, phone) => {
    await phones.removeSubscription(phone);
    return answerJson({ subscribed: false });
  });

  onPhone('DELETE', 'phone', async (_, phone) => {
    await options.remove(phone);
    return answerJson({ enrolled: false }, 200, cookieHeader(undefined));
  });

  routes.all('/phone/api/*', () => refuse(404, 'unknown', 'There is no such address'));
  return routes;
};
