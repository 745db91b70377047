/**
 * MSS_SignatureReq and MSS_SignatureResp.
 *
 * Source: interface section 4.1.
 */
import { z } from 'zod';
import { approvalMimeType, readApproval } from '../approval.ts';
import type { ProtocolRules } from '../rules.ts';
import { reportError } from '../schema-errors.ts';
import { profilesByUri, servicesByUri } from '../uris.ts';
import {
  answerHead,
  checkText,
  encodingSchema,
  mobileUserAnswerSchema,
  mobileUserSchema,
  msspTransIdSchema,
  nameOfData,
  requestHead,
  statusCodeSchema,
  statusMessageSchema,
  text,
} from './common.ts';
import { additionalServicesSchema, serviceResponsesSchema } from './services.ts';

const dataToBeSignedSchema = z
  .object({
    MimeType: nameOfData(['text/plain', approvalMimeType], 'is not supported').describe(
      '`text/plain`, or a transaction approval: JSON text that the App shows as rows (profile Device-LoA4 only).',
    ),
    Encoding: encodingSchema,
    Data: text().describe(
      'What the person reads and signs. Your operator may require it to begin with your name. Unicode tags and variation selectors (U+E0000 to U+E0FFF) are fault 107, because nobody sees them. For an approval: `{"type", "dtbd": [{"key", "value"}]}` as text.',
    ),
  })
  .check((payload) => {
    const { MimeType, Data } = payload.value;
    if (MimeType === 'text/plain') checkText(payload, Data);
    else if (MimeType === approvalMimeType) {
      const read = readApproval(Data);
      if ('error' in read) reportError(payload, { ...read.error, path: ['Data'] });
    }
  })
  .meta({
    id: 'DataToBeSigned',
    description:
      'What the user signs. Text: 239 characters of the GSM 03.38 alphabet at most, else 119. Transaction approval (Device-LoA4 only): JSON text with a type and up to 20 pairs of key and value.',
    example: { MimeType: 'text/plain', Encoding: 'UTF-8', Data: 'Example Ltd: sign in?' },
  });

const seconds = /^\d{1,9}$/;

const timeOutSchema = ({ minTimeoutSeconds, maxTimeoutSeconds }: ProtocolRules) => {
  const words = `must be a number of seconds from ${minTimeoutSeconds} to ${maxTimeoutSeconds}`;
  return text()
    .check((payload) => {
      const timeout = seconds.test(payload.value) ? Number(payload.value) : Number.NaN;
      if (timeout >= minTimeoutSeconds && timeout <= maxTimeoutSeconds) return;
      reportError(payload, { code: 101, words });
    })
    .meta({
      pattern: seconds.source,
      description: `Seconds that the user has: ${minTimeoutSeconds} to ${maxTimeoutSeconds}.`,
      example: '80',
    });
};

/** The format: CMS, or empty, because clients that write every member send an empty text. */
const cmsFormat = /^(?:http:\/\/uri\.etsi\.org\/TS102204\/v1\.1\.2#(?:CMS-Signature|PKCS7))?$/;

/** The request with its wrapper, under the rules of one service. */
export const signatureRequestSchema = (rules: ProtocolRules) => {
  const profiles = profilesByUri(rules.authorities);
  const services = servicesByUri(rules.authorities);
  const request = z
    .object({
      ...requestHead('1', ['2', '1']),
      MobileUser: mobileUserSchema,
      MessagingMode: z
        .enum(['synch', 'asynch'], { error: 'must be synch or asynch' })
        .describe('`synch`: answer when the person has acted. `asynch`: answer at once.'),
      SignatureProfile: z.enum([...profiles.keys()], { error: 'is not a known profile' }).meta({
        id: 'SignatureProfile',
        description: 'How to sign.',
        example: 'http://mid.vendor.ch/Any-LoA4',
      }),
      MSS_Format: z.string().regex(cmsFormat, { error: 'must be a CMS format' }).nullish().meta({
        description: 'Format of the signature. It is CMS, whether that is asked for or not.',
        example: 'http://uri.etsi.org/TS102204/v1.1.2#CMS-Signature',
      }),
      TimeOut: timeOutSchema(rules),
      DataToBeSigned: dataToBeSignedSchema,
      AdditionalServices: additionalServicesSchema(services).describe(
        'What to do beside signing. May be empty, but has to be there; each service once.',
      ),
    })
    .check((payload) => {
      const { MessagingMode, SignatureProfile, DataToBeSigned, AdditionalServices } = payload.value;
      // A SIM has one text to show, no title and rows.
      if (
        DataToBeSigned.MimeType === approvalMimeType &&
        profiles.get(SignatureProfile)?.name !== 'Device-LoA4'
      ) {
        const words = 'is for the profile Device-LoA4 only';
        reportError(payload, { code: 107, path: ['DataToBeSigned', 'MimeType'], words });
      }
      // The calling app needs the answer to open the signing app, so `synch` cannot work.
      const app2app = AdditionalServices.findIndex(
        ({ Description }) => services.get(Description) === 'app2app',
      );
      if (app2app !== -1 && MessagingMode !== 'asynch') {
        const words = 'app2app is for MessagingMode asynch only';
        reportError(payload, {
          code: 101,
          path: ['AdditionalServices', app2app, 'Description'],
          words,
        });
      }
    })
    .meta({ id: 'MSS_SignatureReq', description: 'Asks a mobile user to sign.' });
  return z
    .object({ MSS_SignatureReq: request })
    .meta({ id: 'SignatureRequest', description: 'Sign request.' });
};

export type CheckedSignatureReq = z.output<
  ReturnType<typeof signatureRequestSchema>
>['MSS_SignatureReq'];

export const mssSignatureSchema = z
  .object({
    Base64Signature: z
      .string()
      .meta({ format: 'byte', description: 'DER in Base64; see Checking a signature.' }),
  })
  .meta({
    id: 'MSS_Signature',
    description: 'CMS SignedData (RFC 5652). Never in the sign response of asynch mode.',
    example: { Base64Signature: 'MIAGCSqGSIb3DQEHAqCAMIACAQMx' },
  });

export const signatureStatusSchema = z
  .object({
    StatusCode: statusCodeSchema('500', '100, 500, 502 or 504.'),
    StatusMessage: statusMessageSchema,
  })
  .meta({
    id: 'SignatureStatus',
    description:
      '100 REQUEST_OK, 500 SIGNATURE, 502 VALID_SIGNATURE (the service verified it), 504 OUTSTANDING_TRANSACTION.',
    example: { StatusCode: { Value: '500' }, StatusMessage: 'SIGNATURE' },
  });

export const signatureResponseSchema = z
  .object({
    MSS_SignatureResp: z
      .object({
        ...answerHead('1', '1'),
        MSSP_TransID: msspTransIdSchema,
        MSS_Signature: mssSignatureSchema.optional(),
        MobileUser: mobileUserAnswerSchema,
        ServiceResponses: serviceResponsesSchema,
        SignatureProfile: z.string().meta({
          description: 'The method that was chosen.',
          example: 'http://mid.vendor.ch/STK-LoA4',
        }),
        Status: signatureStatusSchema,
      })
      .meta({
        id: 'MSS_SignatureResp',
        description: 'The signature, or in asynch mode the transaction to ask for.',
      }),
  })
  .meta({ id: 'SignatureResponse', description: 'Sign response.' });
