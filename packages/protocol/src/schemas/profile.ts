/**
 * MSS_ProfileReq and MSS_ProfileResp.
 *
 * Source: interface sections 2.4 and 4.4.
 */
import { z } from 'zod';
import { type ProfileParam, profileParams } from '../requests.ts';
import { reportError } from '../schema-errors.ts';
import {
  answerHead,
  mobileUserSchema,
  requestHead,
  statusCodeSchema,
  statusMessageSchema,
} from './common.ts';

const words: ReadonlySet<string> = new Set(profileParams);
const isParam = (word: string): word is ProfileParam => words.has(word);

/** The known words of Params, each once. */
export const readParams = (params: string): ReadonlySet<ProfileParam> =>
  new Set(params.split(' ').filter(isParam));

/** The only required member that may be empty: then only the list of profiles is requested. */
const paramsSchema = z
  .string()
  .check((payload) => {
    if (payload.value.split(' ').every((word) => word === '' || isParam(word))) return;
    reportError(payload, { code: 101, words: `must be words of ${profileParams.join(' ')}` });
  })
  .meta({
    description: `Space-separated words of ${profileParams.join(' ')}. Each switches its part of the answer on by itself.`,
    example: 'sscds state certs pinstatus rcstatus aastatus',
  });

export const profileRequestSchema = z
  .object({
    MSS_ProfileReq: z
      .object({
        ...requestHead('2', ['0']),
        MobileUser: mobileUserSchema,
        Params: paramsSchema,
      })
      .meta({ id: 'MSS_ProfileReq', description: 'Asks what a mobile user can sign with.' }),
  })
  .meta({ id: 'ProfileRequest', description: 'Profile request.' });

const mobileUserCertificateSchema = z
  .object({
    Algorithm: z
      .string()
      .meta({ description: 'Kind of the key: `EC` is P-256, `RSA` has 2048 bits.', example: 'EC' }),
    State: z.enum(['ACTIVE', 'INACTIVE']).describe('State of the certificate.'),
    X509Certificate: z.array(z.string()).describe('Base64 DER: user, issuing CA, root.'),
    X509SubjectName: z
      .array(z.string())
      .describe('Their subjects as plain lower-case text, which is what clients parse.'),
  })
  .meta({ id: 'MobileUserCertificate', description: 'A certificate with those above it.' });

const sscdSchema = z
  .object({
    CardDetails: z
      .object({
        Mcc: z.string().describe('Mobile country code; `000` when unknown.'),
        Mnc: z.string().describe('Mobile network code; `00` when unknown.'),
        Network: z.string().describe('Name of the network; `Unknown network` when unknown.'),
      })
      .optional()
      .meta({
        description: 'With `carddetails`: the network of the SIM.',
        example: { Mcc: '000', Mnc: '00', Network: 'Unknown network' },
      }),
    MobileUserCertificate: z
      .array(mobileUserCertificateSchema)
      .optional()
      .describe('With `certs`.'),
    PinStatus: z
      .object({ Blocked: z.boolean().describe('Whether the PIN is blocked.') })
      .optional()
      .describe('With `pinstatus`.'),
    State: z.enum(['ACTIVE', 'INACTIVE', 'REGISTERED']).optional().describe('With `state`.'),
  })
  .meta({ id: 'Sscd', description: 'A SIM or App that signs. Params says which parts are here.' });

export const profileQueryExtensionSchema = z
  .object({
    MobileUser: z
      .object({
        AutoActivation: z.boolean().optional().describe('Whether the account activates itself.'),
        RecoveryCodeCreated: z.boolean().optional().describe('Whether there is a recovery code.'),
      })
      .optional()
      .describe('With `aastatus` or `rcstatus`.'),
    Sscds: z
      .object({
        App: z.array(sscdSchema).optional().describe('Absent when the person has no App.'),
        Sim: sscdSchema.optional().describe('Absent when the SIM cannot sign.'),
      })
      .optional()
      .describe('With any word about devices: those of the person.'),
  })
  .meta({ id: 'ProfileQueryExtension', description: 'What Params asked for.' });

const profileStatusSchema = z
  .object({
    StatusCode: statusCodeSchema('100', 'Always 100.'),
    StatusDetail: z
      .object({ ProfileQueryExtension: profileQueryExtensionSchema })
      .optional()
      .describe('There if Params asked for anything.'),
    StatusMessage: statusMessageSchema,
  })
  .meta({
    id: 'ProfileStatus',
    description: '100: the user is eligible.',
    example: { StatusCode: { Value: '100' }, StatusMessage: 'REQUEST_OK' },
  });

export const profileResponseSchema = z
  .object({
    MSS_ProfileResp: z
      .object({
        ...answerHead('2', '0'),
        SignatureProfile: z.array(z.string()).meta({
          description: 'Profiles that would work now.',
          example: ['http://mid.vendor.ch/STK-LoA4'],
        }),
        Status: profileStatusSchema,
      })
      .meta({ id: 'MSS_ProfileResp', description: 'What the mobile user can sign with.' }),
  })
  .meta({ id: 'ProfileResponse', description: 'Profile response.' });
