/** A token in software (SoftHSM), and the package by which the product calls it. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { installIn, npmIn } from './install.ts';

const places = ['/usr/lib/softhsm/libsofthsm2.so', '/usr/lib64/softhsm/libsofthsm2.so'];
const findLibrary = (): string | undefined => places.find((path) => existsSync(path));

const aptInstall = ['apt-get', 'install', '-y', '-q', '--no-install-recommends', 'softhsm2'] as const;

export const pin = '73914';
export const tokenLabel = 'paraph-test';

export interface SoftToken {
  readonly folder: string;
  readonly library: string;
  /** For processes that use the token. */
  readonly environment: { readonly SOFTHSM2_CONF: string; readonly NODE_PATH: string };
  readonly configuration: Readonly<Record<string, unknown>>;
  leave(): void;
  comeBack(): void;
  /** Its private keys, as another program sees them: the label, and whether the token gives the key away. */
  privateKeys(): readonly { readonly label: string; readonly isHidden: boolean }[];
  /** Opens a session in this process, where the library is open already. @returns Signs once. */
  bareSigner(): () => void;
  remove(): void;
}

/** @returns Undefined where something cannot be installed, which the output says. */
export const makeSoftToken = (): SoftToken | undefined => {
  const folder = mkdtempSync(join(tmpdir(), 'paraph-token-'));
  const install = installIn(folder);
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  if (findLibrary() === undefined) install('softhsm2 (apt)', aptInstall);
  const library = findLibrary();
  if (library === undefined || !install('pkcs11js (npm)', ['npm', ...npmIn(folder), 'pkcs11js@2.1.7'])) {
    remove();
    return undefined;
  }
  const tokens = join(folder, 'tokens');
  const settings = join(folder, 'softhsm2.conf');
  mkdirSync(tokens);
  writeFileSync(settings, `directories.tokendir = ${tokens}\nlog.level = ERROR\n`);
  const environment = { SOFTHSM2_CONF: settings, NODE_PATH: join(folder, 'node_modules') };
  const init = ['--init-token', '--free', '--label', tokenLabel, '--pin', pin, '--so-pin', '82620'];
  execFileSync('softhsm2-util', init, { env: { ...process.env, ...environment } });
  const look = join(folder, 'look.cjs');
  writeFileSync(look, lookProgram);
  return {
    ...{ folder, library, environment, remove },
    configuration: { kind: 'pkcs11', module: library, tokenLabel },
    leave: () => renameSync(tokens, `${tokens}-away`),
    comeBack: () => renameSync(`${tokens}-away`, tokens),
    privateKeys: () => {
      const env = { ...process.env, ...environment };
      return JSON.parse(execFileSync(process.execPath, [look, library, pin], { env, encoding: 'utf8' }));
    },
    bareSigner: () => {
      const p = createRequire(look)('pkcs11js');
      const token = new p.PKCS11();
      token.load(library);
      const slots: readonly Buffer[] = token.C_GetSlotList(true);
      const slot = slots.find((each) => token.C_GetTokenInfo(each).label.trim() === tokenLabel);
      const session = token.C_OpenSession(slot, p.CKF_SERIAL_SESSION | p.CKF_RW_SESSION);
      const isKept = { type: p.CKA_TOKEN, value: true };
      const curve = { type: p.CKA_EC_PARAMS, value: Buffer.from('06082a8648ce3d030107', 'hex') };
      const { privateKey } = token.C_GenerateKeyPair(
        ...[session, { mechanism: p.CKM_EC_KEY_PAIR_GEN }, [curve, isKept]],
        [isKept, { type: p.CKA_PRIVATE, value: true }, { type: p.CKA_SIGN, value: true }],
      );
      return () => {
        token.C_SignInit(session, { mechanism: p.CKM_ECDSA }, privateKey);
        token.C_Sign(session, Buffer.alloc(32, 1), Buffer.alloc(64));
      };
    },
  };
};

/** In a process of its own: the library has one state for each process. */
const lookProgram = `
const p = require('pkcs11js');
const [, , library, pin] = process.argv;
const token = new p.PKCS11();
token.load(library);
token.C_Initialize();
const slot = token.C_GetSlotList(true).find((each) => token.C_GetTokenInfo(each).label.trim() === '${tokenLabel}');
const session = token.C_OpenSession(slot, p.CKF_SERIAL_SESSION);
token.C_Login(session, p.CKU_USER, pin);
token.C_FindObjectsInit(session, [{ type: p.CKA_CLASS, value: p.CKO_PRIVATE_KEY }]);
const keys = token.C_FindObjects(session, 1000);
token.C_FindObjectsFinal(session);
const refuses = (key, type) => {
  try {
    token.C_GetAttributeValue(session, key, [{ type }]);
    return false;
  } catch {
    return true;
  }
};
console.log(JSON.stringify(keys.map((key) => ({
  label: token.C_GetAttributeValue(session, key, [{ type: p.CKA_LABEL }])[0].value.toString(),
  isHidden:
    (refuses(key, p.CKA_VALUE) && refuses(key, p.CKA_PRIVATE_EXPONENT)) &&
    token.C_GetAttributeValue(session, key, [{ type: p.CKA_EXTRACTABLE }])[0].value[0] === 0,
}))));
`;
