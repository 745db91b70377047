import type { NumberError } from './pages/views.ts';

/**
 * `login_hint`: the expected person, as JSON with numbers to choose from, or as one number:
 * `{"enableManualInput":true,"hints":[{"msisdn":"+41790000000","default":true}]}`. Numbers may have
 * a plus or `00` in front, spaces and dashes.
 *
 * Pure. Source: interface sections 4.5 and 5.6; ITU-T E.164 for the length.
 */
export interface Hint {
  /** Digits without plus. */
  readonly msisdn: string;
  readonly default: boolean;
}

/** Each reason is a cause in `error-codes.ts`. */
export type LoginHint =
  | { readonly ok: true; readonly hints: readonly Hint[]; readonly enableManualInput: boolean }
  | {
      readonly ok: false;
      readonly reason: 'noHints' | 'badMsisdn' | 'duplicateMsisdn' | 'badLoginHint';
    };

/** All of them are on one page. */
const maxHints = 32;

const numberPattern = /^(?:\+|00)?([1-9]\d{7,14})$/;
/** Matches a hint that can only mean a number. */
const numberLike = /^[\d\s+-]+$/;

const digitsOf = (text: string): string | undefined =>
  numberPattern.exec(text.replaceAll(/[\s-]/g, ''))?.[1];

const refused = (reason: Extract<LoginHint, { ok: false }>['reason']): LoginHint => ({
  ok: false,
  reason,
});

type JsonObject = Readonly<Record<string, unknown>>;

const isRecord = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isFlag = (value: unknown): value is boolean | undefined =>
  value === undefined || typeof value === 'boolean';

/** @returns Undefined for anything but a JSON object. */
export const parseJsonObject = (text: string): JsonObject | undefined => {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
};

const readHints = (elements: readonly unknown[], enableManualInput: boolean): LoginHint => {
  if (elements.length === 0) return refused('noHints');
  if (elements.length > maxHints) return refused('badLoginHint');
  const hints: Hint[] = [];
  const seen = new Set<string>();
  for (const element of elements) {
    if (!isRecord(element) || !isFlag(element.default)) return refused('badLoginHint');
    const msisdn = typeof element.msisdn === 'string' ? digitsOf(element.msisdn) : undefined;
    if (msisdn === undefined) return refused('badMsisdn');
    if (seen.has(msisdn)) return refused('duplicateMsisdn');
    seen.add(msisdn);
    hints.push({ msisdn, default: element.default === true });
  }
  return { ok: true, hints, enableManualInput };
};

export const parseLoginHint = (text: string): LoginHint => {
  if (numberLike.test(text)) {
    const msisdn = digitsOf(text);
    return msisdn === undefined
      ? refused('badMsisdn')
      : { ok: true, hints: [{ msisdn, default: true }], enableManualInput: false };
  }
  const value = parseJsonObject(text);
  if (value === undefined || !isFlag(value.enableManualInput)) return refused('badLoginHint');
  const { hints = [] } = value;
  return Array.isArray(hints)
    ? readHints(hints, value.enableManualInput === true)
    : refused('badLoginHint');
};

/**
 * The numbers that a person may log in with: those that the client named, and others when the
 * client allows it. A request that was not pushed is a link that anyone can write, so its hint
 * never limits the choice.
 *
 * Test numbers count only when an allowed client has named them in a pushed request. A typed test
 * number is "not listed"; this tells nothing, because only a sandbox has test numbers.
 */
export interface Offer {
  readonly hints: readonly { readonly msisdn: string; readonly default: boolean }[];
  readonly manualInput: boolean;
}

export const toOffer = (
  loginHint: string | undefined,
  { allowed, pushed }: { readonly allowed: boolean; readonly pushed: boolean },
  isTestNumber: (msisdn: string) => boolean,
): Offer => {
  const parsed = loginHint === undefined || !allowed ? undefined : parseLoginHint(loginHint);
  if (parsed === undefined || !parsed.ok) return { hints: [], manualInput: true };
  const hints = parsed.hints.filter(({ msisdn }) => pushed || !isTestNumber(msisdn));
  return { hints, manualInput: !pushed || parsed.enableManualInput || hints.length === 0 };
};

export type Chosen =
  | { readonly ok: true; readonly msisdn: string }
  | { readonly ok: false; readonly problem: NumberError };

/** Plus, digits and what people put between them. */
const typedNumber = /^\+?[\d\s().\u2010-\u2015/-]+$/;

export const chooseNumber = (
  typed: string,
  { hints, manualInput }: Offer,
  isTestNumber: (msisdn: string) => boolean,
): Chosen => {
  const text = typed.trim();
  if (text === '') return { ok: false, problem: 'missing' };
  if (text.length > 40 || !typedNumber.test(text)) return { ok: false, problem: 'malformed' };
  const parsed = parseLoginHint(text.replaceAll(/[\s().\u2010-\u2015/-]/g, ''));
  const msisdn = parsed.ok ? parsed.hints[0]?.msisdn : undefined;
  if (msisdn === undefined) return { ok: false, problem: 'malformed' };
  if (hints.some((hint) => hint.msisdn === msisdn)) return { ok: true, msisdn };
  return manualInput && !isTestNumber(msisdn)
    ? { ok: true, msisdn }
    : { ok: false, problem: 'not-listed' };
};
