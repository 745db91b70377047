/** A token in software (SoftHSM), and the package by which the product calls it. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
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
  /** Signatures in a second of one session in a loop, beside nothing else. */
  bareRate(calls: number): number;
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
  const look = join(folder, 'token.cjs');
  writeFileSync(look, tokenProgram);
  const env = { ...process.env, ...environment };
  const ask = (...words: readonly string[]) =>
    JSON.parse(execFileSync(process.execPath, [look, library, pin, ...words], { env, encoding: 'utf8' }));
  return {
    ...{ folder, library, environment, remove },
    configuration: { kind: 'pkcs11', module: library, tokenLabel },
    leave: () => renameSync(tokens, `${tokens}-away`),
    comeBack: () => renameSync(`${tokens}-away`, tokens),
    privateKeys: () => ask('keys'),
    bareRate: (calls) => ask('rate', String(calls)),
  };
};

/** In a process of its own: the library has one state for each process. */
const tokenProgram = `
const p = require('pkcs11js');
const [, , library, pin, order, calls] = process.argv;
const token = new p.PKCS11();
token.load(library);
token.C_Initialize();
const slot = token.C_GetSlotList(true).find((each) => token.C_GetTokenInfo(each).label.trim() === '${tokenLabel}');
const session = token.C_OpenSession(slot, p.CKF_SERIAL_SESSION | p.CKF_RW_SESSION);
token.C_Login(session, p.CKU_USER, pin);
const rate = () => {
  const curve = { type: p.CKA_EC_PARAMS, value: Buffer.from('06082a8648ce3d030107', 'hex') };
  const making = { mechanism: p.CKM_EC_KEY_PAIR_GEN };
  const isKept = { type: p.CKA_TOKEN, value: true };
  const { publicKey, privateKey } = token.C_GenerateKeyPair(session, making, [curve, isKept], [
    isKept,
    { type: p.CKA_PRIVATE, value: true },
    { type: p.CKA_SIGN, value: true },
  ]);
  const sign = () => {
    token.C_SignInit(session, { mechanism: p.CKM_ECDSA }, privateKey);
    token.C_Sign(session, Buffer.alloc(32, 1), Buffer.alloc(64));
  };
  for (let done = 0; done < calls / 10; done += 1) sign();
  const begin = performance.now();
  for (let done = 0; done < calls; done += 1) sign();
  const seconds = (performance.now() - begin) / 1000;
  for (const key of [publicKey, privateKey]) token.C_DestroyObject(session, key);
  console.log(calls / seconds);
};
if (order === 'rate') {
  rate();
  process.exit();
}
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
