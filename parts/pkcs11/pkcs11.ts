/**
 * The part of PKCS#11 (v2.40) that is used, as the package `pkcs11js` offers it. Only those who
 * have a token install that package, so its types are not imported.
 */
import { createRequire } from 'node:module';

type Handle = Buffer;

interface Attribute {
  readonly type: number;
  readonly value?: unknown;
}

interface Mechanism {
  readonly mechanism: number;
  readonly parameter?: unknown;
}

/** Errors have the `code` of PKCS#11 and its name as their message. */
export interface Pkcs11 {
  load(path: string): void;
  C_Initialize(options: { readonly flags: number }): void;
  C_Finalize(): void;
  C_GetSlotList(withToken: boolean): readonly Handle[];
  C_GetTokenInfo(slot: Handle): { readonly label: string };
  C_OpenSession(slot: Handle, flags: number): Handle;
  C_Login(session: Handle, user: number, pin: string): void;
  C_FindObjectsInit(session: Handle, template: readonly Attribute[]): void;
  C_FindObjects(session: Handle, max: number): readonly Handle[];
  C_FindObjectsFinal(session: Handle): void;
  C_GetAttributeValue(
    session: Handle,
    object: Handle,
    template: readonly Attribute[],
  ): readonly { readonly value: Buffer }[];
  C_GenerateKeyPair(
    session: Handle,
    mechanism: Mechanism,
    publicTemplate: readonly Attribute[],
    privateTemplate: readonly Attribute[],
  ): { readonly publicKey: Handle; readonly privateKey: Handle };
  C_DestroyObject(session: Handle, object: Handle): void;
  C_SignInit(session: Handle, mechanism: Mechanism, key: Handle): void;
  C_Sign(session: Handle, data: Buffer, output: Buffer): Buffer;
}

/** Names and numbers of the standard. */
export const ck = {
  osLockingOk: 0x2,
  sessionReadWrite: 0x2 | 0x4,
  user: 1,
  publicKey: 2,
  privateKey: 3,
  attributes: {
    class: 0x0,
    token: 0x1,
    private: 0x2,
    label: 0x3,
    id: 0x102,
    sensitive: 0x103,
    sign: 0x108,
    verify: 0x10a,
    modulus: 0x120,
    modulusBits: 0x121,
    publicExponent: 0x122,
    extractable: 0x162,
    parameters: 0x180,
    point: 0x181,
  },
  mechanisms: {
    makeRsa: 0x0,
    rsa: 0x1,
    rsaPss: 0xd,
    sha256: 0x250,
    makeEc: 0x1040,
    ecdsa: 0x1041,
    makeEdwards: 0x1055,
    eddsa: 0x1057,
  },
  mgf1Sha256: 0x2,
} as const;

/** Answers that say something of the order, and nothing of the token. Another try gets the same. */
export const refusals: ReadonlySet<number> = new Set([
  0x10, 0x11, 0x12, 0x13, 0x20, 0x21, 0x31, 0x54, 0x62, 0x63, 0x68, 0x70, 0x71, 0xb5, 0xd0, 0xd1,
  0xe2, 0x130, 0x140,
]);

/** CKR_PIN_…: tokens count them, and are locked after a few. */
export const pinErrors: ReadonlySet<number> = new Set([0xa0, 0xa1, 0xa2, 0xa3, 0xa4]);

export const results = {
  keyHandleInvalid: 0x60,
  objectHandleInvalid: 0x82,
  userAlreadyLoggedIn: 0x100,
  alreadyInitialized: 0x191,
} as const;

/** @throws When the package is not there. */
export const createPkcs11 = (): Pkcs11 => {
  const { PKCS11 } = createRequire(import.meta.url)('pkcs11js') as {
    readonly PKCS11: new () => Pkcs11;
  };
  return new PKCS11();
};
