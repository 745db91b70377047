/**
 * The requests of the examples. Their number is a robot of the sandbox, so in a sandbox they work as they are.
 */
import { approvalMimeType } from '../../protocol/approval.ts';
import type { ProtocolRules } from '../../protocol/rules.ts';

/** Of the form that this service gives. */
export const exampleTransactionId = 'H00a7Kq2VbX9mRt5LwZc';

const apInfo = (reference: string, time: string) => ({
  AP_ID: 'mid://shop.example.ch',
  AP_TransID: reference,
  Instant: `2026-03-02T09:${time}Z`,
});

const plainText = (text: string) => ({ MimeType: 'text/plain', Encoding: 'UTF-8', Data: text });

const approval = {
  type: 'Payment',
  dtbd: [
    { key: 'To', value: 'Example Garage' },
    { key: 'Amount', value: 'CHF 129.50' },
  ],
};

const seconds = ({ minTimeoutSeconds, maxTimeoutSeconds }: ProtocolRules): string =>
  String(Math.min(Math.max(60, minTimeoutSeconds), maxTimeoutSeconds));

/** The first dialect of each kind: most URIs are the vendor's, that of userLang is its supplier's. */
export const authoritiesOf = ({
  authorities,
}: ProtocolRules): { readonly main: string; readonly lang: string } => {
  const main = authorities[0] ?? '';
  return { main, lang: authorities.find((authority) => authority.startsWith('mss.')) ?? main };
};

export type ExampleRequests = ReturnType<typeof exampleRequests>;

export const exampleRequests = (rules: ProtocolRules) => {
  const { main, lang } = authoritiesOf(rules);
  const msspInfo = { MSSP_ID: { URI: `http://${main}/` } };
  const robot = { MSISDN: '+41700092501' };
  const appUser = { MSISDN: '+41700092508' };
  const receiptMessage = plainText('Example Shop: thank you, you are signed in.');

  const sign = (
    caller: ReturnType<typeof apInfo>,
    members: { mode: string; profile: string; user?: object; data?: object; services?: readonly object[] },
  ) => ({
    MSS_SignatureReq: {
      MajorVersion: '1',
      MinorVersion: '2',
      AP_Info: caller,
      MSSP_Info: msspInfo,
      MobileUser: members.user ?? robot,
      MessagingMode: members.mode,
      SignatureProfile: `http://${main}/${members.profile}`,
      TimeOut: seconds(rules),
      DataToBeSigned: members.data ?? plainText('Example Shop: sign in?'),
      AdditionalServices: members.services ?? [],
    },
  });

  const receipt = (reference: string, status: object) => ({
    MSS_ReceiptReq: {
      MajorVersion: '1',
      MinorVersion: '1',
      AP_Info: apInfo(reference, '15:45.120'),
      MSSP_Info: msspInfo,
      MSSP_TransID: exampleTransactionId,
      MobileUser: robot,
      Message: receiptMessage,
      ...status,
    },
  });

  return {
    sign: {
      synch: sign(apInfo('LOGIN-4711', '15:30.000'), { mode: 'synch', profile: 'Any-LoA4' }),
      asynch: sign(apInfo('LOGIN-4712', '15:30.000'), {
        mode: 'asynch',
        profile: 'Any-LoA4',
        services: [
          { Description: `http://${lang}/TS102204/v1.0.0#userLang`, UserLang: { Value: 'en' } },
          { Description: `http://${main}/as#geofencing` },
          { Description: `http://${main}/as#subscriberInfo` },
        ],
      }),
      approval: sign(apInfo('PAY-0815', '15:30.000'), {
        mode: 'asynch',
        profile: 'Device-LoA4',
        user: appUser,
        data: { MimeType: approvalMimeType, Encoding: 'UTF-8', Data: JSON.stringify(approval) },
      }),
      app2app: sign(apInfo('LOGIN-4713', '15:30.000'), {
        mode: 'asynch',
        profile: 'Device-LoA4',
        user: appUser,
        services: [
          { Description: `http://${main}/as#app2app`, App2App: { RedirectUri: 'exampleshop://back' } },
        ],
      }),
    },
    status: {
      status: {
        MSS_StatusReq: {
          MajorVersion: '1',
          MinorVersion: '1',
          AP_Info: apInfo('LOGIN-4712-1', '15:38.250'),
          MSSP_Info: msspInfo,
          MSSP_TransID: exampleTransactionId,
        },
      },
    },
    receipt: {
      acknowledged: receipt('LOGIN-4711-R', {
        Status: {
          StatusCode: { Value: '100' },
          StatusDetail: {
            ReceiptRequestExtension: {
              ReceiptMessagingMode: 'synch',
              ReceiptProfile: { Language: 'en', ReceiptProfileURI: `http://${lang}/synch` },
              UserAck: 'true',
            },
          },
        },
      }),
      plain: receipt('LOGIN-4711-R', {}),
    },
    profile: {
      everything: {
        MSS_ProfileReq: {
          MajorVersion: '2',
          MinorVersion: '0',
          AP_Info: apInfo('WHO-23', '14:02.000'),
          MSSP_Info: msspInfo,
          MobileUser: robot,
          Params: 'sscds state certs pinstatus rcstatus aastatus carddetails',
        },
      },
    },
  };
};
