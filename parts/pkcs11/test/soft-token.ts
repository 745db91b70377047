/** A token in software (SoftHSM), and the package by which the product calls it. */
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { installIn, npmIn } from '../../../test/interop/install.ts';

const places = ['/usr/lib/softhsm/libsofthsm2.so', '/usr/lib64/softhsm/libsofthsm2.so'];
const findLibrary = (): string | undefined => places.find((path) => existsSync(path));

const aptInstall = [
  'apt-get',
  'install',
  '-y',
  '-q',
  '--no-install-recommends',
  'softhsm2',
] as const;

export const pin = '73914';
export const tokenLabel = 'paraph-test';

export interface SoftToken {
  readonly folder: string;
  readonly library: string;
  /** The environment of processes that use the token. */
  readonly environment: Readonly<Record<string, string>>;
  readonly configuration: Readonly<Record<string, unknown>>;
  /** @param replacement An empty one of the same label takes its place. */
  leave(replacement?: 'another'): void;
  comeBack(): void;
  /** The library behind one whose calls hang when told. */
  readonly hangingLibrary: string;
  /** Makes this call hang from now on; with `one` only the next one. */
  hang(call: 'C_OpenSession' | 'C_Sign' | 'C_GenerateKeyPair', one?: 'one'): void;
  /** What hangs goes on. */
  answerAgain(): void;
  /**
   * Its private keys, as another program sees them: the label, and whether the token gives the key
   * away.
   */
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
  if (
    library === undefined ||
    !install('pkcs11js (npm)', ['npm', ...npmIn(folder), 'pkcs11js@2.1.7'])
  ) {
    remove();
    return undefined;
  }
  const tokens = join(folder, 'tokens');
  const settings = join(folder, 'softhsm2.conf');
  writeFileSync(settings, `directories.tokendir = ${tokens}\nlog.level = ERROR\n`);
  const hanging = join(folder, 'hanging');
  const hangingLibrary = join(folder, 'hanging.so');
  mkdirSync(hanging);
  writeFileSync(`${hangingLibrary}.c`, hangingProgram);
  // pkcs11js was compiled, so there is a compiler.
  execFileSync('cc', [
    '-Wall',
    '-Werror',
    '-shared',
    '-fPIC',
    '-o',
    hangingLibrary,
    `${hangingLibrary}.c`,
  ]);
  const environment = {
    SOFTHSM2_CONF: settings,
    NODE_PATH: join(folder, 'node_modules'),
    HANGING_FOLDER: hanging,
    HANGING_LIBRARY: library,
  };
  const init = ['--init-token', '--free', '--label', tokenLabel, '--pin', pin, '--so-pin', '82620'];
  const initialize = (): void => {
    mkdirSync(tokens);
    execFileSync('softhsm2-util', init, { env: { ...process.env, ...environment } });
  };
  initialize();
  const look = join(folder, 'look.cjs');
  writeFileSync(look, lookProgram);
  return {
    folder,
    library,
    hangingLibrary,
    environment,
    remove,
    configuration: { kind: 'pkcs11', module: library, tokenLabel },
    leave: (replacement) => {
      renameSync(tokens, `${tokens}-away`);
      if (replacement !== undefined) initialize();
    },
    comeBack: () => {
      if (!existsSync(`${tokens}-away`)) return;
      rmSync(tokens, { recursive: true, force: true });
      renameSync(`${tokens}-away`, tokens);
    },
    hang: (call, one) =>
      writeFileSync(join(hanging, `${call}${one === undefined ? '' : '.one'}`), ''),
    answerAgain: () => {
      for (const name of readdirSync(hanging)) rmSync(join(hanging, name));
    },
    privateKeys: () => {
      const env = { ...process.env, ...environment };
      return JSON.parse(
        execFileSync(process.execPath, [look, library, pin], { env, encoding: 'utf8' }),
      );
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

/**
 * A call hangs while a file has its name. `<name>.one` becomes `<name>.taken`, for which this one
 * call waits. The list has the order of PKCS#11 v2.40.
 */
const hangingProgram = `
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
typedef unsigned long Word;
typedef struct { unsigned char version[2]; void *calls[68]; } List;
enum { openSession = 12, sign = 43, generate = 59 };
static List list, *real;
static void hang(const char *name) {
  char path[4000], one[4100], taken[4100];
  snprintf(path, sizeof path, "%s/%s", getenv("HANGING_FOLDER"), name);
  snprintf(one, sizeof one, "%s.one", path);
  snprintf(taken, sizeof taken, "%s.taken", path);
  const char *awaited = rename(one, taken) == 0 ? taken : path;
  while (access(awaited, F_OK) == 0) usleep(10000);
}
static Word hangingOpen(Word slot, Word flags, void *application, void *notify, Word *session) {
  hang("C_OpenSession");
  return ((Word (*)(Word, Word, void *, void *, Word *))real->calls[openSession])(
      slot, flags, application, notify, session);
}
static Word hangingSign(Word session, void *data, Word length, void *signature, Word *size) {
  hang("C_Sign");
  return ((Word (*)(Word, void *, Word, void *, Word *))real->calls[sign])(
      session, data, length, signature, size);
}
static Word hangingGenerate(Word session, void *mechanism, void *public, Word publics, void *private,
                            Word privates, Word *publicKey, Word *privateKey) {
  hang("C_GenerateKeyPair");
  return ((Word (*)(Word, void *, void *, Word, void *, Word, Word *, Word *))real->calls[generate])(
      session, mechanism, public, publics, private, privates, publicKey, privateKey);
}
Word C_GetFunctionList(List **out) {
  void *library = dlopen(getenv("HANGING_LIBRARY"), RTLD_NOW);
  Word (*get)(List **) = library ? (Word (*)(List **))dlsym(library, "C_GetFunctionList") : 0;
  if (!get || get(&real) != 0) return 5;
  list = *real;
  list.calls[openSession] = (void *)hangingOpen;
  list.calls[sign] = (void *)hangingSign;
  list.calls[generate] = (void *)hangingGenerate;
  *out = &list;
  return 0;
}
`;
