/**
 * Enrolment: binds a number to a browser that has made a key pair, and gives it a certificate.
 *
 * The code proves who was invited, by a MAC over the certification request and the gate (PIN or
 * passkey): what is seen on the way fits neither another key nor another gate. The same request
 * sent again gets the same phone, share, recovery code and cookie, in whatever order copies of it
 * arrive, until the phone is removed.
 */

import { hash, X509Certificate } from 'node:crypto';
import { readCertificate } from '../../packages/pki/src/certificate-fields.ts';
import { readCertificationRequest } from '../../packages/pki/src/certification-request.ts';
import { isEqual } from '../../packages/pki/src/is-equal.ts';
import type { KeyCustody } from '../../packages/pki/src/ports.ts';
import { deriveKey } from '../../packages/pki/src/sealed-json.ts';
import type { Activation, Activations } from './activations.ts';
import type { Passkeys } from './passkeys.ts';
import type { Gate, Phone, Phones } from './phones.ts';
import type { PhonePrompts } from './prompts.ts';
import type { EnrolmentRequest } from './requests.ts';
import { activationMac, deriverOf, hashOf, newRecoveryCode, recoveryHash } from './secrets.ts';

export interface Enrolled {
  readonly kind: 'enrolled';
  readonly phone: Pick<Phone, 'id' | 'msisdn'>;
  /** The value of the cookie. Only its hash is stored. */
  readonly secret: string;
  /** DER. */
  readonly certificate: Uint8Array;
  /** Shown once. Undefined for a phone with a passkey. */
  readonly pin?: { readonly share: string; readonly recoveryCode: string };
}

/**
 * code      The code is unknown, used, expired, or does not authenticate this request.
 * request   It is not a request of a P-256 key that has signed it.
 * gate      The passkey does not prove that its user was verified.
 * too-many  The number has as many phones as it may have.
 */
export type EnrolmentError = 'code' | 'request' | 'gate' | 'too-many';
export type EnrolmentResult = Enrolled | { readonly kind: 'refused'; readonly why: EnrolmentError };

/** What a phone's record has of its certificate. */
export const certificateFacts = (
  certificate: Uint8Array,
): Pick<Phone, 'certificateEndsAt' | 'serial'> => ({
  certificateEndsAt: readCertificate(certificate)?.notAfter.getTime() ?? 0,
  serial: new X509Certificate(certificate).serialNumber.toLowerCase(),
});

/** The owner of a phone's key, in the form of the custody. */
export const keyOwnerOf = ({ msisdn, id }: Pick<Phone, 'msisdn' | 'id'>) =>
  ({ msisdn, sscdId: `phone-${id}`, algorithm: 'EC' }) as const;

const refused = (why: EnrolmentError): EnrolmentResult => ({ kind: 'refused', why });

export interface EnrolmentOptions {
  readonly phones: Phones;
  readonly activations: Activations;
  readonly passkeys: Passkeys;
  readonly prompts: Pick<PhonePrompts, 'tell'>;
  readonly custody: Pick<KeyCustody, 'certify' | 'chain'>;
  readonly serviceKey: Uint8Array;
  readonly maxPhones: number;
  /** Removes a phone, and revokes its certificates. */
  readonly remove: (phone: Pick<Phone, 'msisdn' | 'id'>) => Promise<void>;
  /**
   * Wakes the other phones of the number: if it was not their owner, that is how they learn of it.
   */
  readonly tellOthers: (msisdn: string, phone: string) => void;
  readonly now: () => number;
}

/** All of a gate that counts. The page makes the same of it (assets/keys.js). */
const gateParts = ({ gate }: EnrolmentRequest): readonly string[] => {
  if (gate.kind === 'pin') return [gate.kind, gate.salt, gate.verifier];
  const { id, response } = gate.response;
  return [gate.kind, id, response.clientDataJSON, response.attestationObject ?? ''];
};

export const createEnrolment = (options: EnrolmentOptions) => {
  const {
    phones,
    activations,
    passkeys,
    prompts,
    custody,
    serviceKey,
    maxPhones,
    remove,
    tellOthers,
    now,
  } = options;
  const key = deriveKey(serviceKey, 'paraph phone enrolment');

  const gateOf = async (
    { gate }: EnrolmentRequest,
    { id }: Activation,
    derive: (purpose: string) => Buffer,
  ): Promise<{ readonly gate: Gate; readonly pin?: Enrolled['pin'] } | undefined> => {
    if (gate.kind === 'passkey') {
      const registered = await passkeys.register(id, gate.response);
      return registered && { gate: registered };
    }
    const share = derive('share').toString('base64url');
    const recoveryCode = newRecoveryCode(derive('code'));
    const { kind, salt, verifier } = gate;
    const hashes = { verifierHash: hashOf(verifier), recoveryHash: recoveryHash(recoveryCode) };
    return { gate: { kind, salt, share, ...hashes }, pin: { share, recoveryCode } };
  };

  return async (given: EnrolmentRequest): Promise<EnrolmentResult> => {
    const activation = await activations.find(given.code.id);
    const request = Buffer.from(given.request, 'base64');
    const macKey = Buffer.from(activation?.key ?? '', 'base64url');
    if (
      activation === undefined ||
      !isEqual(activationMac(macKey, request, gateParts(given)), given.code.mac)
    )
      return refused('code');
    const publicKey = readCertificationRequest(request);
    if (publicKey === undefined) return refused('request');
    const { msisdn } = activation;
    const used = hashOf(request);
    // Hex: on the command line an id must not begin with a dash.
    const id = hash('sha256', `${activation.id} ${used}`, 'hex').slice(0, 24);
    const derive = deriverOf(key, [id, used, ...gateParts(given)]);
    const gated = await gateOf(given, activation, derive);
    if (gated === undefined) return refused('gate');
    const others = (await phones.read(msisdn))?.phones.filter((phone) => phone.id !== id) ?? [];
    const [oldest] = others.length < maxPhones ? [] : others;
    if (oldest !== undefined && !activation.makesRoom) return refused('too-many');
    if (!(await activations.use(activation, used))) return refused('code');
    // Not before: a code that another request has used takes nobody's phone away.
    if (oldest !== undefined) await remove(oldest);
    const secret = derive('cookie').toString('base64url');
    const { language, label } = given;
    const secretHash = hashOf(secret);
    const known = (await phones.read(msisdn))?.phones.find((phone) => phone.id === id);
    // A copy of the request that added it: what has changed since, a new PIN for one, stays.
    const isCopy = known !== undefined && isEqual(known.secretHash, secretHash);
    // The same key with another gate would take the phone from the browser with the cookie.
    if (known !== undefined && !isCopy) return refused('code');
    const chain = isCopy
      ? await custody.chain(known.chain)
      : await custody.certify(keyOwnerOf({ msisdn, id }), publicKey);
    if (chain === undefined) throw new Error('The certificates of a phone are missing');
    const [certificate] = chain.certificates;
    const isAdded =
      isCopy ||
      (await phones.add(msisdn, id, {
        label,
        language,
        enrolledAt: now(),
        chain: chain.id,
        secretHash,
        gate: gated.gate,
        invitation: activation.id,
        ...certificateFacts(certificate),
      }));
    if (!isAdded) {
      const number = await phones.read(msisdn);
      // An earlier copy of the request may have added it; otherwise nobody has this certificate.
      if (!number?.phones.some((phone) => phone.id === id)) await remove({ msisdn, id });
      return refused('code');
    }
    await prompts.tell({ kind: 'state', msisdn });
    if (!isCopy) tellOthers(msisdn, id);
    return {
      kind: 'enrolled',
      phone: { id, msisdn },
      secret,
      certificate,
      ...(gated.pin && { pin: gated.pin }),
    };
  };
};
