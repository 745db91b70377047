/**
 * The four requests inside the program: names and conventions of the wire stop here. A member with
 * several spellings keeps its own (`written`, `authority`), which answers repeat, beside the
 * normalised form.
 */

/** A profile URI: `http://mid.vendor.ch/MID/v1/AuthProfile1` has the name `MID/v1/AuthProfile1`. */
export interface ProfileUri {
  /** The host part in the spelling of the request. It only names a dialect. */
  readonly authority: string;
  readonly name: ProfileName;
}

export const profileNames = [
  'Any-LoA4',
  'MID/v1/AuthProfile1',
  'STK-LoA4',
  'Device-LoA4',
  'MID/v1/AuthProfile1.ECC',
  'MID/v1/AuthProfile1.RSA',
  'Any-Geofencing-LoA4',
  'MID/v1/OtpProfileFlash',
  'MID/v1/OtpProfileText',
] as const;
export type ProfileName = (typeof profileNames)[number];

/** @param profile A name or a URI. */
export const isOneTimePassword = (profile: string): boolean =>
  /(^|\/)MID\/v1\/OtpProfile(Text|Flash)$/.test(profile);

export interface Msisdn {
  /** The number in the spelling of the request, which answers repeat. */
  readonly written: string;
  /** Digits without the plus sign; used for comparing and storing. */
  readonly number: string;
}

/** AP_Info and MSSP_Info. `apPassword` exists only between HTTP and the AP registry. */
export interface Caller {
  readonly apId: string;
  readonly apPassword: string | undefined;
  readonly apTransId: string;
  /** The instant in UTC, with three decimals and `Z`. */
  readonly instant: string;
  /** MSSP_ID.URI in the spelling of the request. */
  readonly msspUri: string;
}

export type MessagingMode = 'synch' | 'asynch';

/**
 * The data to be signed. For an approval, `text` is the title and `dtbd` the pairs as compact JSON;
 * only `dtbd` is signed.
 */
export type DataToBeSigned =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'transaction-approval'; readonly text: string; readonly dtbd: string };

export interface GeofencingPolicy {
  readonly countryWhitelist: readonly string[];
  readonly countryBlacklist: readonly string[];
  /** 0 to 1; undefined where the request sets no bound. */
  readonly minDeviceConfidence: number | undefined;
  readonly minLocationConfidence: number | undefined;
  readonly maxTimestampMinutes: number | undefined;
  readonly maxAccuracyMeters: number | undefined;
}

/** The requested services. `uri` is the Description in the spelling of the request. */
export interface AdditionalServices {
  readonly userLang?: { readonly uri: string; readonly language: string };
  readonly geofencing?: { readonly uri: string; readonly policy: GeofencingPolicy | undefined };
  readonly app2app?: { readonly uri: string; readonly redirectUri: string };
  readonly subscriberInfo?: { readonly uri: string };
  readonly validate?: { readonly uri: string };
}
export type ServiceName = keyof AdditionalServices;

export interface SignatureRequest {
  readonly caller: Caller;
  readonly msisdn: Msisdn;
  readonly messagingMode: MessagingMode;
  readonly profile: ProfileUri;
  readonly timeoutSeconds: number;
  readonly data: DataToBeSigned;
  readonly services: AdditionalServices;
}

export interface StatusRequest {
  readonly caller: Caller;
  readonly msspTransId: string;
}

export interface ReceiptRequest {
  readonly caller: Caller;
  readonly msspTransId: string;
  readonly msisdn: Msisdn;
  readonly message: string;
  /**
   * The ReceiptRequestExtension; undefined without one. With it the answer has an extension, too.
   */
  readonly extension: { readonly language: string } | undefined;
}

export const profileParams = [
  'sscds',
  'state',
  'certs',
  'pinstatus',
  'rcstatus',
  'aastatus',
  'carddetails',
] as const;
export type ProfileParam = (typeof profileParams)[number];

export interface ProfileRequest {
  readonly caller: Caller;
  readonly msisdn: Msisdn;
  readonly params: ReadonlySet<ProfileParam>;
}

/** The bytes that the user's key signs: the text itself, or the canonical form of an approval. */
export const bytesToSign = (data: DataToBeSigned): Uint8Array =>
  new TextEncoder().encode(
    data.kind === 'text'
      ? data.text
      : JSON.stringify({ format_version: 1, content_string: data.dtbd }),
  );
