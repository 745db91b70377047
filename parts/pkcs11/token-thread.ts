/**
 * One of the threads that call the token, because its calls block. It does what token.ts asks, one
 * call after the other, and decides nothing.
 *
 * Private keys are made in the token, as objects that it keeps (CKA_TOKEN) and does not give away
 * (CKA_SENSITIVE, not CKA_EXTRACTABLE).
 */
import { parentPort, workerData } from 'node:worker_threads';
import type { JWK } from 'jose';
import type { KeyType, SigningAlgorithm } from '../../packages/pki/src/ports.ts';
import type {
  Answered,
  AskedCall,
  TokenCall,
  TokenFailure,
  TokenPlace,
  TokenValue,
} from './calls.ts';
import { ck, createPkcs11, type Pkcs11, results } from './pkcs11.ts';

if (parentPort === null) throw new Error('This is a thread, not a program');
const parent = parentPort;
const { module, tokenLabel, slot: slotNumber } = workerData as TokenPlace;
const { attributes: at, mechanisms } = ck;

class Failure extends Error {
  readonly failure: TokenFailure;
  constructor(failure: TokenFailure) {
    super(failure.says);
    this.failure = failure;
  }
}

const codeOf = (error: unknown): number | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'number'
    ? error.code
    : undefined;

/** @throws Unless it fails with that result. */
const unless = (result: number, call: () => void): void => {
  try {
    call();
  } catch (error) {
    if (codeOf(error) !== result) throw error;
  }
};

let loaded: Pkcs11 | undefined;
let session: Buffer | undefined;
/** Handles of private keys, in this session. */
const handles = new Map<string, Buffer>();
const maxHandles = 10_000;

const library = (): Pkcs11 => {
  if (loaded !== undefined) return loaded;
  let created: Pkcs11;
  try {
    created = createPkcs11();
  } catch (error) {
    throw new Failure({ kind: 'package', says: String(Object(error).code ?? error) });
  }
  try {
    created.load(module);
  } catch {
    throw new Failure({ kind: 'library', says: 'cannot be loaded' });
  }
  loaded = created;
  return created;
};

const slotId = (slot: Buffer): number => slot.readUIntLE(0, Math.min(slot.length, 6));

const open = (pin: string, fresh: boolean): void => {
  const pkcs11 = library();
  session = undefined;
  handles.clear();
  if (fresh) {
    // It fails when nothing was open, or everything is lost.
    try {
      pkcs11.C_Finalize();
    } catch {}
  }
  unless(results.alreadyInitialized, () => pkcs11.C_Initialize({ flags: ck.osLockingOk }));
  const found = pkcs11.C_GetSlotList(true).filter((slot) => {
    if (slotNumber !== undefined && slotId(slot) !== slotNumber) return false;
    // Labels are filled up with spaces.
    return (
      tokenLabel === undefined ||
      pkcs11.C_GetTokenInfo(slot).label.replace(/[ \0]+$/, '') === tokenLabel
    );
  });
  const [slot, second] = found;
  if (slot === undefined) throw new Failure({ kind: 'no-token', says: 'it is not in its slot' });
  if (second !== undefined)
    throw new Failure({ kind: 'no-token', says: 'several tokens have that label' });
  const opened = pkcs11.C_OpenSession(slot, ck.sessionReadWrite);
  // A login is for all sessions of a process.
  unless(results.userAlreadyLoggedIn, () => pkcs11.C_Login(opened, ck.user, pin));
  session = opened;
};

/** @throws When there is no session. */
const inSession = (): { readonly pkcs11: Pkcs11; readonly session: Buffer } => {
  if (loaded === undefined || session === undefined)
    throw new Failure({ kind: 'no-token', says: 'no session is open' });
  return { pkcs11: loaded, session };
};

const find = (keyId: string, kind?: number): readonly Buffer[] => {
  const { pkcs11, session } = inSession();
  const id = { type: at.id, value: Buffer.from(keyId, 'hex') };
  pkcs11.C_FindObjectsInit(
    session,
    kind === undefined ? [id] : [id, { type: at.class, value: kind }],
  );
  try {
    return pkcs11.C_FindObjects(session, 10);
  } finally {
    pkcs11.C_FindObjectsFinal(session);
  }
};

const handleOf = (keyId: string): Buffer => {
  const known = handles.get(keyId);
  if (known !== undefined) return known;
  const [found] = find(keyId, ck.privateKey);
  if (found === undefined)
    throw new Failure({ kind: 'no-key', says: 'the token does not have the key' });
  if (handles.size >= maxHandles) handles.clear();
  handles.set(keyId, found);
  return found;
};

const recipes: Readonly<Record<KeyType, { mechanism: number; parameters: object[] }>> = {
  EC: {
    mechanism: mechanisms.makeEc,
    // 1.2.840.10045.3.1.7
    parameters: [{ type: at.parameters, value: Buffer.from('06082a8648ce3d030107', 'hex') }],
  },
  RSA: {
    mechanism: mechanisms.makeRsa,
    parameters: [
      { type: at.modulusBits, value: 2048 },
      { type: at.publicExponent, value: Buffer.of(1, 0, 1) },
    ],
  },
  OKP: {
    mechanism: mechanisms.makeEdwards,
    // 1.3.101.112
    parameters: [{ type: at.parameters, value: Buffer.from('06032b6570', 'hex') }],
  },
};

const publicJwk = (type: KeyType, key: Buffer): JWK => {
  const { pkcs11, session } = inSession();
  const read = (attribute: number): Buffer => {
    const [found] = pkcs11.C_GetAttributeValue(session, key, [{ type: attribute }]);
    if (found === undefined)
      throw new Failure({ kind: 'no-key', says: 'the public key is not readable' });
    return found.value;
  };
  const text = (bytes: Buffer): string => bytes.toString('base64url');
  if (type === 'RSA') {
    // Some tokens write a leading zero.
    const modulus = read(at.modulus);
    const n = modulus.subarray(modulus.findIndex((octet) => octet !== 0));
    return { kty: 'RSA', n: text(n), e: text(read(at.publicExponent)) };
  }
  // An OCTET STRING, of which some tokens give the content alone. The point is at its end.
  const point = read(at.point);
  if (type === 'OKP') return { kty: 'OKP', crv: 'Ed25519', x: text(point.subarray(-32)) };
  return {
    kty: 'EC',
    crv: 'P-256',
    x: text(point.subarray(-64, -32)),
    y: text(point.subarray(-32)),
  };
};

const make = (keyId: string, label: string, type: KeyType): JWK => {
  const { pkcs11, session } = inSession();
  // Asked a second time after an answer that did not arrive.
  const [present] = find(keyId, ck.publicKey);
  if (present !== undefined) return publicJwk(type, present);
  const { mechanism, parameters } = recipes[type];
  const common = [
    { type: at.token, value: true },
    { type: at.id, value: Buffer.from(keyId, 'hex') },
    { type: at.label, value: label },
  ];
  const pair = pkcs11.C_GenerateKeyPair(
    session,
    { mechanism },
    [...common, { type: at.verify, value: true }, ...(parameters as { type: number }[])],
    [
      ...common,
      { type: at.private, value: true },
      { type: at.sensitive, value: true },
      { type: at.extractable, value: false },
      { type: at.sign, value: true },
    ],
  );
  handles.set(keyId, pair.privateKey);
  return publicJwk(type, pair.publicKey);
};

// CK_RSA_PKCS_PSS_PARAMS, as pkcs11js calls it.
const pss = { type: 5, hashAlg: mechanisms.sha256, mgf: ck.mgf1Sha256, saltLen: 32 };

const signing: Readonly<
  Record<SigningAlgorithm, { mechanism: number; parameter?: object; length: number }>
> = {
  ECDSA: { mechanism: mechanisms.ecdsa, length: 64 },
  ES256: { mechanism: mechanisms.ecdsa, length: 64 },
  EdDSA: { mechanism: mechanisms.eddsa, length: 64 },
  RS256: { mechanism: mechanisms.rsa, length: 256 },
  PS256: { mechanism: mechanisms.rsaPss, parameter: pss, length: 256 },
};

const sign = (keyId: string, algorithm: SigningAlgorithm, data: Uint8Array): Uint8Array => {
  const { pkcs11, session } = inSession();
  const { length, ...mechanism } = signing[algorithm];
  const trySign = (): Uint8Array => {
    pkcs11.C_SignInit(session, mechanism, handleOf(keyId));
    return pkcs11.C_Sign(session, Buffer.from(data), Buffer.alloc(length));
  };
  try {
    return trySign();
  } catch (error) {
    const code = codeOf(error);
    if (code !== results.keyHandleInvalid && code !== results.objectHandleInvalid) throw error;
    // Its handle may be another one now.
    handles.delete(keyId);
    return trySign();
  }
};

const destroy = (keyId: string): void => {
  const { pkcs11, session } = inSession();
  for (const object of find(keyId)) pkcs11.C_DestroyObject(session, object);
  handles.delete(keyId);
};

/** A key that was used is looked for: some tokens answer other questions from memory. */
const probe = (): void => {
  const [keyId] = handles.keys();
  if (keyId === undefined) {
    const { pkcs11, session } = inSession();
    pkcs11.C_FindObjectsInit(session, [{ type: at.class, value: ck.privateKey }]);
    pkcs11.C_FindObjectsFinal(session);
  } else if (find(keyId, ck.privateKey).length === 0) {
    throw new Failure({ kind: 'no-key', says: 'the token does not have its keys any more' });
  }
};

const answer = (call: TokenCall): TokenValue => {
  switch (call.kind) {
    case 'open':
      open(call.pin, call.fresh);
      return undefined;
    case 'make':
      return make(call.keyId, call.label, call.type);
    case 'sign':
      return sign(call.keyId, call.algorithm, call.data);
    case 'destroy':
      destroy(call.keyId);
      return undefined;
    case 'probe':
      probe();
      return undefined;
  }
};

const failureOf = (error: unknown): TokenFailure => {
  if (error instanceof Failure) return error.failure;
  const code = codeOf(error);
  if (code === undefined) return { kind: 'result', says: 'a call has failed' };
  // The message is the name of the result.
  return { kind: 'result', says: error instanceof Error ? error.message : String(code), code };
};

const answered = ({ id, call }: AskedCall): Answered => {
  try {
    return { id, value: answer(call) };
  } catch (error) {
    return { id, failure: failureOf(error) };
  }
};

parent.on('message', (lot: readonly AskedCall[]) => parent.postMessage(lot.map(answered)));
