/** Sets up the phone, and sets a new PIN after it was blocked. */
import { call } from './api.js';
import { toBase64, toBase64Url } from './bytes.js';
import {
  activationMac,
  createRequest,
  fromPin,
  newKeyPair,
  newSalt,
  pinWrapper,
  recoveryWrapper,
  unwrapKey,
  wrapKey,
} from './keys.js';
import { complain, field, onClick, onSubmit, part, show } from './page.js';
import { createPasskey, hasPasskeys } from './passkey.js';
import { keep } from './store.js';

const maxTries = 4;
const retryMs = 1000;

/** @typedef {{ readonly id: string, readonly secret: string }} ActivationCode */

/**
 * @param {string} hash Of the address: `#activate=<id>.<secret>`.
 * @returns {ActivationCode | undefined}
 */
export const readActivation = (hash) => {
  const [, id, secret] = /^#activate=([\w-]{11})\.([\w-]{22})$/.exec(hash) ?? [];
  return id === undefined || secret === undefined ? undefined : { id, secret };
};

/** @param {string} hash Of the address: `#login=<code>`. */
export const readLogin = (hash) => /^#login=([\w.-]{1,200})$/.exec(hash)?.[1];

/** One digit again and again, or each one more or one less than the last. @param {string} pin */
const isSimple = (pin) =>
  [0, 1, -1].some((step) =>
    [...pin].every(
      (digit, index) => index === 0 || Number(digit) - Number(pin[index - 1]) === step,
    ),
  );

/** The new PIN that was typed twice; undefined after a message about it. */
const readNewPin = () => {
  const [pin, again] = [field('pin').value, field('again').value];
  const problem = !/^\d{6,12}$/.test(pin)
    ? 'pinMalformed'
    : isSimple(pin)
      ? 'pinSimple'
      : pin === again
        ? undefined
        : 'pinsDiffer';
  if (problem !== undefined) complain(problem);
  return problem === undefined ? pin : undefined;
};

/** What the person may call this browser: `Chrome on Linux`. */
const label = () => {
  const { userAgent } = navigator;
  const browser = /(Edg|OPR|Firefox|Chrome|Safari)\//.exec(userAgent)?.[1] ?? 'Browser';
  const system = /(Android|iPhone|iPad|Windows|Mac OS|CrOS|Linux)/.exec(userAgent)?.[1];
  return system === undefined ? browser : `${browser} on ${system}`;
};

/**
 * The code may be used up although the answer was lost, or the service failed after it; the same
 * request gets the answer again.
 *
 * @param {string} path
 * @param {object} body
 */
const insist = async (path, body) => {
  let result = await call('POST', path, body);
  const isUnsure = () => result.status === 0 || result.status >= 500;
  for (let tries = 1; isUnsure() && tries < maxTries; tries += 1) {
    await new Promise((resolve) => setTimeout(resolve, retryMs));
    result = await call('POST', path, body);
  }
  return result;
};

/**
 * @typedef {{
 *   readonly pair: CryptoKeyPair,
 *   readonly request: Uint8Array<ArrayBuffer>,
 *   readonly salt: Uint8Array<ArrayBuffer>,
 *   credential?: object,
 * }} Begun
 *   What one code is used for. It is the same at each try, because a code is good for one request
 *   with one gate.
 */

/** By code and gate, until the phone is kept. @type {Map<string, Begun>} */
const begun = new Map();

/** @param {ActivationCode} code @param {'pin' | 'passkey'} gate @returns {Promise<Begun>} */
const begin = async ({ id }, gate) => {
  const name = `${id} ${gate}`;
  const known = begun.get(name);
  if (known !== undefined) return known;
  // With a PIN it can be exported until it is wrapped; then this handle is forgotten.
  const pair = await newKeyPair(gate === 'pin');
  const made = { pair, request: await createRequest(pair), salt: newSalt() };
  begun.set(name, made);
  return made;
};

/** As the service makes it: enrolment.ts. @param {any} gate @returns {readonly string[]} */
const gateParts = ({ kind, salt, verifier, response }) =>
  kind === 'pin'
    ? [kind, salt, verifier]
    : [kind, response.id, response.response.clientDataJSON, response.response.attestationObject];

/** @param {ActivationCode} code @param {Begun} begun @param {object} gate */
const enrol = async ({ id, secret }, { request }, gate) => {
  const enrolment = {
    code: { id, mac: await activationMac(secret, request, gateParts(gate)) },
    request: toBase64(request),
    gate,
    language: document.documentElement.lang,
    label: label(),
  };
  const { status, answer } = await insist('enrolments', enrolment);
  if (status === 201) return answer;
  const reasons = new Map([
    [0, 'noConnection'],
    [403, 'passkeyRefused'],
    [404, 'codeUsed'],
    [409, 'tooMany'],
    [429, 'limited'],
  ]);
  if (status === 403) begun.clear();
  complain(reasons.get(status) ?? 'failed');
  return undefined;
};

/** @param {ActivationCode} code @returns {Promise<string | undefined>} The recovery code. */
const enrolWithPin = async (code) => {
  const pin = readNewPin();
  if (pin === undefined) return undefined;
  const tried = await begin(code, 'pin');
  const { pair, salt } = tried;
  const { half, verifier } = await fromPin(pin, salt);
  const answer = await enrol(code, tried, { kind: 'pin', salt: toBase64Url(salt), verifier });
  if (answer === undefined) return undefined;
  const { phone: id, number, recoveryCode } = answer;
  const key = await wrapKey(pair.privateKey, await pinWrapper(half, answer.pin.share));
  const recovery = await wrapKey(pair.privateKey, await recoveryWrapper(recoveryCode));
  await keep('phone', { id, number, gate: 'pin', salt, key, recovery });
  begun.clear();
  return recoveryCode;
};

/** @param {ActivationCode} code */
const enrolWithPasskey = async (code) => {
  const tried = await begin(code, 'passkey');
  if (tried.credential === undefined) {
    const asked = await call('POST', 'enrolments/options', { code: { id: code.id } });
    if (asked.status !== 200) {
      complain(asked.status === 0 ? 'noConnection' : 'codeUsed');
      return false;
    }
    tried.credential = await createPasskey(asked.answer.publicKey);
  }
  if (tried.credential === undefined) {
    complain('passkeyRefused');
    return false;
  }
  const answer = await enrol(code, tried, { kind: 'passkey', response: tried.credential });
  if (answer === undefined) return false;
  const { phone: id, number } = answer;
  await keep('phone', { id, number, gate: 'passkey', key: tried.pair.privateKey });
  begun.clear();
  return true;
};

/** Whether it is worth to choose a PIN. @param {ActivationCode} code */
const stateOf = async ({ id }) => {
  const { status, answer } = await call('POST', 'enrolments/state', { code: { id } });
  // Where the service does not say, the enrolment will.
  return status === 200 ? answer.state : 'open';
};

/** @param {ActivationCode} code @param {() => void} done */
export const showEnrolment = async (code, done) => {
  const [state, offersPasskey] = await Promise.all([stateOf(code), hasPasskeys()]);
  if (state !== 'open') return show(state === 'used' ? 'used' : 'unknown');
  show('enrol');
  part('passkeys').hidden = !offersPasskey;
  onSubmit('form', async () => {
    const recoveryCode = await enrolWithPin(code);
    if (recoveryCode !== undefined) showRecoveryCode(recoveryCode, done);
  });
  if (offersPasskey) {
    onClick('passkey', async () => {
      if (await enrolWithPasskey(code)) done();
    });
  }
};

/** @param {string} code @param {() => void} done */
const showRecoveryCode = (code, done) => {
  // A browser may otherwise delete the key when it needs room. Nobody waits for its answer.
  void navigator.storage?.persist?.();
  show('recovery');
  part('code').textContent = code;
  onClick('done', async () => done());
};

/**
 * The PIN is blocked, or another one than this browser knows.
 *
 * @param {import('./store.js').Phone} phone
 * @param {() => void} changed There is a new PIN.
 * @param {() => void} done The person has the new code.
 */
export const showBlocked = (phone, changed, done) => {
  show('blocked');
  onSubmit('form', async () => {
    const pin = readNewPin();
    if (pin === undefined || phone.recovery === undefined) return;
    const code = field('code').value.trim();
    const key = await unwrapKey(phone.recovery, await recoveryWrapper(code), true).catch(
      () => undefined,
    );
    if (key === undefined) return complain('codeWrong');
    const salt = newSalt();
    const { half, verifier } = await fromPin(pin, salt);
    const gate = { kind: 'pin', salt: toBase64Url(salt), verifier };
    const { status, answer } = await insist('recovery', { code, gate });
    if (status !== 200) {
      return complain(status === 0 ? 'noConnection' : status === 429 ? 'limited' : 'codeWrong');
    }
    const { recoveryCode } = answer;
    const wrapped = await wrapKey(key, await pinWrapper(half, answer.pin.share));
    const recovery = await wrapKey(key, await recoveryWrapper(recoveryCode));
    await keep('phone', { ...phone, salt, key: wrapped, recovery });
    changed();
    showRecoveryCode(recoveryCode, done);
  });
};
