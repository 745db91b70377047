/**
 * Additional services: the members of a sign request for services beside the signature, and the
 * members of their answers.
 *
 * Source: interface section 2.2.
 */
import { z } from 'zod';
import type { ServiceName } from '../requests.ts';
import { reportError } from '../schema-errors.ts';
import { absoluteUri, text } from './common.ts';

/** The common language tags of RFC 5646 section 2.1: `en`, `DE`, `fr-CH`, in any case. */
const languageTag = /^[A-Za-z]{2,8}([-_][A-Za-z0-9]{1,8})*$/;

/**
 * Schemes that lead to no app: instead of returning to the calling app, a phone would run, read or
 * load such a URI, or begin a call or a message.
 */
const forbiddenSchemes: ReadonlySet<string> = new Set([
  'javascript',
  'vbscript',
  'data',
  'blob',
  'about',
  'view-source',
  'file',
  'filesystem',
  'content',
  'resource',
  'jar',
  'chrome',
  'chrome-extension',
  'ftp',
  'ftps',
  'sftp',
  'ws',
  'wss',
  'urn',
  'tel',
  'sms',
  'smsto',
  'mms',
  'mmsto',
  'mailto',
  'facetime',
  'facetime-audio',
  'geo',
]);

const leadsBack = (uri: string): boolean =>
  !forbiddenSchemes.has(uri.slice(0, uri.indexOf(':')).toLowerCase());

const redirectUriWords = 'must be an absolute URI that leads back to an app';

const decimal = /^\d{1,9}(\.\d{1,9})?$/;

/** Clients write numbers as strings or as numbers; an empty string sets no bound. */
const numeric = (max: number, words: string) =>
  z
    .union([z.string(), z.number()], { error: words })
    .check((payload) => {
      const { value } = payload;
      if (value === '') return;
      const isNumber = typeof value === 'number' ? value >= 0 : decimal.test(value);
      if (!isNumber || Number(value) > max) reportError(payload, { code: 101, words });
    })
    .nullish();

const confidence = numeric(1, 'must be a number from 0 to 1');
const measure = numeric(Number.MAX_SAFE_INTEGER, 'must be a number, zero or more');
const countries = z
  .array(z.string().regex(/^[A-Za-z]{2}$/, { error: 'must be an ISO 3166-1 code of two letters' }))
  .nullish();

const geoFencingRequestSchema = z
  .object({
    countrywhitelist: countries.describe('Countries that are allowed, ISO 3166-1.'),
    countryblacklist: countries.describe('Countries that are not.'),
    mindeviceconfidence: confidence.describe('Least trust in the device, 0 to 1.'),
    minlocationconfidence: confidence.describe('Least trust in the location, 0 to 1.'),
    maxtimestampminutes: measure.describe('Greatest age of the location, minutes.'),
    maxaccuracymeters: measure.describe('Greatest radius of uncertainty, metres.'),
  })
  .meta({
    id: 'GeoFencingRequest',
    description:
      'Policy that the location has to satisfy, else fault 450. A null, empty or zero member sets no bound.',
    example: {
      countrywhitelist: ['CH', 'DE'],
      mindeviceconfidence: '0.7',
      maxaccuracymeters: '1000',
    },
  });

const additionalServiceSchema = (services: ReadonlyMap<string, ServiceName>) =>
  z
    .object({
      Description: z
        .enum([...services.keys()], { error: 'is not a known service' })
        .describe('Which service; see Additional services.'),
      UserLang: z
        .object({
          Value: text()
            .regex(languageTag, { error: 'must be a language code' })
            .describe('Language of the dialogue on the phone, such as `en` or `DE`.'),
        })
        .nullish()
        .meta({ description: 'With userLang.', example: { Value: 'en' } }),
      App2App: z
        .object({
          RedirectUri: text()
            .regex(absoluteUri, { error: redirectUriWords })
            .refine(leadsBack, { error: redirectUriWords })
            .describe(
              'Absolute URI of your app. The phone returns to it after the person has acted.',
            ),
        })
        .nullish()
        .meta({
          description: 'With app2app.',
          example: { RedirectUri: 'myapp://app.open#token=ABCD' },
        }),
      GeoFencingRequest: geoFencingRequestSchema
        .nullish()
        .describe('With geofencing: what the location has to satisfy, else fault 450.'),
    })
    .check((payload) => {
      const { Description, App2App } = payload.value;
      // An absent member is always reported as fault 102, so the code here does not matter.
      if (services.get(Description) === 'app2app' && !App2App)
        reportError(payload, { code: 101, path: ['App2App', 'RedirectUri'] });
    })
    .meta({
      id: 'AdditionalService',
      description: 'One service that is asked for.',
      example: {
        Description: 'http://mss.vendor.fi/TS102204/v1.0.0#userLang',
        UserLang: { Value: 'en' },
      },
    });

/** @param services The accepted URIs. One service in two spellings counts as a repetition. */
export const additionalServicesSchema = (services: ReadonlyMap<string, ServiceName>) =>
  z.array(additionalServiceSchema(services)).check((payload) => {
    const seen = new Set<ServiceName | undefined>();
    payload.value.forEach(({ Description }, index) => {
      const name = services.get(Description);
      if (seen.has(name) && name !== undefined) {
        reportError(payload, {
          code: 101,
          path: [index, 'Description'],
          words: 'asks for a service again',
        });
      }
      seen.add(name);
    });
  });

const detailsSchema = z
  .object({
    id: z.string().describe('`1901`: the network.'),
    value: z.string().describe('For 1901 the mobile country code and the network code, `22801`.'),
  })
  .meta({
    id: 'Details',
    description: 'Id 1901 is MCC then MNC.',
    example: { id: '1901', value: '22801' },
  });

const serviceResponseSchema = z
  .object({
    Description: z.string().meta({ description: 'The URI as the request spelled it.' }),
    Geofencing: z
      .object({
        Country: z.string().optional().describe('ISO 3166-1, two letters.'),
        Accuracy: z.string().optional().meta({ description: 'Metres, decimal integer.' }),
        DeviceConfidence: z.string().optional().describe('Trust in the device, `0` to `1.0`.'),
        LocationConfidence: z.string().optional().describe('Trust in the location, `0` to `1.0`.'),
        Timestamp: z.string().optional().meta({
          format: 'date-time',
          description: 'When the location was taken, with offset.',
        }),
        ErrorCode: z.string().optional().describe('Its presence makes this an error.'),
        ErrorMessage: z.string().optional().describe('The error in words.'),
      })
      .nullish()
      .describe('Where the device is, or why that is not known.'),
    App2App: z
      .object({
        AuthUri: z
          .string()
          .describe('Open this on the phone: it is the prompt, and no push is sent.'),
      })
      .nullish()
      .describe('How to open the App.'),
    SubscriberInfo: z
      .object({ Details: z.array(detailsSchema).describe('Pairs of id and value.') })
      .nullish()
      .describe('What the operator knows about the subscriber.'),
  })
  .meta({
    id: 'ServiceResponse',
    description: 'Answers one additional service; Description says which member is filled.',
    example: {
      Description: 'http://mid.vendor.ch/as#subscriberInfo',
      SubscriberInfo: { Details: [{ id: '1901', value: '22801' }] },
    },
  });

export const serviceResponsesSchema = z
  .array(serviceResponseSchema)
  .optional()
  .describe('One element for each additional service that has an answer.');
