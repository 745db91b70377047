import type { Caller, Msisdn } from './requests.ts';

/** What every operation's request says about who calls whom. */
interface CallerMembers {
  readonly AP_Info: {
    readonly AP_ID: string;
    readonly AP_PWD?: string | null | undefined;
    readonly AP_TransID: string;
    readonly Instant: string;
  };
  readonly MSSP_Info: { readonly MSSP_ID: { readonly URI: string } };
}

/** An empty password is none: clients that fill every member send it so. */
export const callerOf = ({ AP_Info, MSSP_Info }: CallerMembers): Caller => ({
  apId: AP_Info.AP_ID,
  apPassword: AP_Info.AP_PWD || undefined,
  apTransId: AP_Info.AP_TransID,
  instant: AP_Info.Instant,
  msspUri: MSSP_Info.MSSP_ID.URI,
});

export const msisdnOf = ({ MSISDN }: { readonly MSISDN: string }): Msisdn => ({
  written: MSISDN,
  number: MSISDN.startsWith('+') ? MSISDN.slice(1) : MSISDN,
});
