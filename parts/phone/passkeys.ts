/**
 * Passkeys (WebAuthn) as the gate before each use of a phone's key. A passkey signs nothing of
 * ours: it proves that its user was verified, for this enrolment or this prompt.
 *
 * Challenges are derived and not stored. That of a prompt belongs to one phone and one attempt, and
 * an attempt is signed at most once, so a proof is of no use a second time.
 *
 * Source: WebAuthn Level 3, sections 7.1 and 7.2.
 */
import type {
  verifyAuthenticationResponse,
  verifyRegistrationResponse,
} from '@simplewebauthn/server';
import type { Gate, Phone } from './phones.ts';
import type { Credential } from './requests.ts';
import type { PhoneCookies } from './secrets.ts';

type Passkey = Extract<Gate, { kind: 'passkey' }>;
type Registration = Parameters<typeof verifyRegistrationResponse>[0]['response'];
type Assertion = Parameters<typeof verifyAuthenticationResponse>[0]['response'];

/** Read at the first use: it brings 200 modules, and many services never see a passkey. */
const loadLibrary = () => import('@simplewebauthn/server');

const timeoutMs = 120_000;
const rpName = 'Paraph';

const enrolment = (code: string): string => `enrol ${code}`;
const use = ({ msisdn, id }: Phone, prompt: string): string => `sign ${msisdn} ${id} ${prompt}`;

export type Passkeys = ReturnType<typeof createPasskeys>;

export const createPasskeys = ({
  cookies,
  publicUrl,
}: {
  readonly cookies: Pick<PhoneCookies, 'challengeFor'>;
  readonly publicUrl: () => string;
}) => {
  const challengeBytes = (purpose: string): Uint8Array<ArrayBuffer> =>
    Uint8Array.from(Buffer.from(cookies.challengeFor(purpose), 'base64url'));
  const expectation = (purpose: string) => {
    const { origin, hostname } = new URL(publicUrl());
    const expectedChallenge = cookies.challengeFor(purpose);
    return {
      expectedChallenge,
      expectedOrigin: origin,
      expectedRPID: hostname,
      requireUserVerification: true,
    };
  };
  return {
    /** The options of `navigator.credentials.create`. @param code Id of the activation code. */
    creationOptions: async (code: string, userName: string) => {
      const { generateRegistrationOptions } = await loadLibrary();
      return generateRegistrationOptions({
        rpName,
        rpID: new URL(publicUrl()).hostname,
        userName,
        userDisplayName: userName,
        challenge: challengeBytes(enrolment(code)),
        timeout: timeoutMs,
        attestationType: 'none',
        authenticatorSelection: {
          authenticatorAttachment: 'platform',
          userVerification: 'required',
          residentKey: 'preferred',
        },
        supportedAlgorithmIDs: [-7, -257],
      });
    },

    /** @returns Undefined for a response that does not prove that the user was verified. */
    register: async (code: string, response: Credential): Promise<Passkey | undefined> => {
      const { verifyRegistrationResponse } = await loadLibrary();
      const found = await verifyRegistrationResponse({
        response: response as unknown as Registration,
        ...expectation(enrolment(code)),
      }).catch(() => undefined);
      if (!found?.verified) return undefined;
      const { id, publicKey, counter, transports } = found.registrationInfo.credential;
      return {
        kind: 'passkey',
        credentialId: id,
        counter,
        publicKey: Buffer.from(publicKey).toString('base64url'),
        ...(transports !== undefined && { transports: [...transports] }),
      };
    },

    /** The options of `navigator.credentials.get`. @returns Undefined for a phone with a PIN. */
    requestOptions: async (phone: Phone, prompt: string) => {
      const { gate } = phone;
      if (gate.kind !== 'passkey') return undefined;
      const { generateAuthenticationOptions } = await loadLibrary();
      const allowed = {
        id: gate.credentialId,
        ...(gate.transports && { transports: gate.transports }),
      };
      return generateAuthenticationOptions({
        rpID: new URL(publicUrl()).hostname,
        challenge: challengeBytes(use(phone, prompt)),
        allowCredentials: [allowed as never],
        timeout: timeoutMs,
        userVerification: 'required',
      });
    },

    /** @returns The gate with its new counter; undefined for a response that proves nothing. */
    verify: async (
      phone: Phone,
      prompt: string,
      response: Credential,
    ): Promise<Passkey | undefined> => {
      const { gate } = phone;
      if (gate.kind !== 'passkey') return undefined;
      const { verifyAuthenticationResponse } = await loadLibrary();
      const publicKey = Uint8Array.from(Buffer.from(gate.publicKey, 'base64url'));
      const found = await verifyAuthenticationResponse({
        response: response as unknown as Assertion,
        credential: { id: gate.credentialId, publicKey, counter: gate.counter },
        ...expectation(use(phone, prompt)),
      }).catch(() => undefined);
      return found?.verified
        ? { ...gate, counter: found.authenticationInfo.newCounter }
        : undefined;
    },
  };
};
