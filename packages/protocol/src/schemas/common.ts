/**
 * Objects that several operations share, with the wire's own names.
 *
 * The order of members is the order in which errors are reported: versions first, because another
 * version may change all other members; then the caller; then the request.
 *
 * Source: interface section 2.1.
 */
import { z } from 'zod';
import { dtbsLimit } from '../gsm.ts';
import { normaliseInstant } from '../instant.ts';
import { reportError } from '../schema-errors.ts';
import { hasTags, tagWords } from '../tags.ts';

/** A required text. */
export const text = (): z.ZodString => z.string().min(1);

/** Checks an instant and normalises it: answers repeat it in UTC, with three decimals and `Z`. */
const checkInstant = (payload: z.core.ParsePayload<string>): void => {
  const instant = normaliseInstant(payload.value);
  if (instant === undefined) {
    reportError(payload, { code: 101, words: 'must be an ISO 8601 date-time with zone' });
  } else payload.value = instant;
};

const instantSchema = text().check(checkInstant).meta({
  format: 'date-time',
  description: 'ISO 8601 date-time with zone; a fraction of a second is optional.',
  example: '2024-07-02T08:06:55.134Z',
});

/**
 * An absolute URI: a scheme and characters of RFC 3986 section 2. It has no white space and no
 * control character, because browsers drop them, and a forbidden scheme could hide behind one.
 */
export const absoluteUri = /^[A-Za-z][A-Za-z0-9+.-]*:[A-Za-z0-9\-._~:/?#[\]@!$&'()*+,;=%]+$/;

const msspIdSchema = z
  .object({
    URI: text()
      .regex(absoluteUri, { error: 'must be an absolute URI' })
      .describe(
        'An absolute URI. Answers repeat it; the profile operation answers in its dialect.',
      ),
  })
  .meta({
    id: 'MSSP_ID',
    description: 'The service provider.',
    example: { URI: 'http://mid.vendor.ch/' },
  });

/**
 * AP_Info of a request. TS 102 204 requires an XML NCName for AP_TransID. Identifiers in use also
 * begin with a digit (UUIDs) or have a colon, so those are accepted.
 */
const apInfoSchema = z
  .object({
    AP_ID: text().meta({ description: 'The application.', example: 'mid://ap.example.ch' }),
    AP_PWD: z
      .string()
      .nullish()
      .meta({ description: 'Checked only if the application has one registered.' }),
    AP_TransID: text()
      .max(64, { error: 'must have 64 characters at most' })
      .regex(/^[A-Za-z0-9_][A-Za-z0-9_.:-]*$/, {
        error: 'must be a name of letters, digits and _ . : -',
      })
      .meta({ description: "The application's own reference.", example: 'REF-46009.542' }),
    Instant: instantSchema,
  })
  .meta({ id: 'AP_Info', description: 'The application that calls.' });

const msspInfoSchema = z
  .object({
    MSSP_ID: msspIdSchema,
    // Clients that fill every member send an empty text here. Nothing reads it.
    Instant: z
      .string()
      .check((payload) => {
        if (payload.value !== '') checkInstant(payload);
      })
      .nullish()
      .meta({ format: 'date-time', description: 'Not needed in requests.' }),
  })
  .meta({ id: 'MSSP_Info', description: 'The service that is called.' });

export const requestHead = <
  const Major extends string,
  const Minors extends readonly [string, ...string[]],
>(
  major: Major,
  minors: Minors,
) => {
  const error = `must belong to version ${minors.map((minor) => `${major}.${minor}`).join(' or ')}`;
  const [minor, older] = minors;
  const second =
    older === undefined ? 'Its second part.' : `\`${minor}\`. Older clients send \`${older}\`.`;
  return {
    MajorVersion: z.enum([major], { error }).describe('Version of the operation.'),
    MinorVersion: z.enum(minors, { error }).describe(second),
    AP_Info: apInfoSchema,
    MSSP_Info: msspInfoSchema,
  };
};

// No number is shorter than seven digits with its country code, and E.164 ends at fifteen.
export const e164 = /^\+?[1-9]\d{6,14}$/;

export const mobileUserSchema = z
  .object({
    MSISDN: text()
      .check((payload) => {
        if (payload.value !== '' && !e164.test(payload.value)) {
          reportError(payload, { code: 101, detail: 'Illegal msisdn' });
        }
      })
      .meta({
        pattern: e164.source,
        description: 'E.164 number; the plus sign is optional. Answers echo it as written.',
        example: '+41700092501',
      }),
  })
  .meta({ id: 'MobileUser', description: 'The person who is asked.' });

export const msspTransIdSchema = text().meta({
  id: 'MSSP_TransID',
  description: 'Identifier that the sign response gave to the transaction.',
  example: 'HEhm77lu',
});

/**
 * One of a few names whose case does not matter: media types (RFC 9110 8.3.1) and encodings
 * (8.3.2). It is normalised. Any other text is fault 107.
 */
export const nameOfData = (names: readonly string[], words: string) =>
  z
    .string()
    .check((payload) => {
      const written = payload.value.toLowerCase();
      const name = names.find((each) => each.toLowerCase() === written);
      if (name === undefined) reportError(payload, { code: 107, words });
      else payload.value = name;
    })
    .meta({ enum: names });

export const encodingSchema = nameOfData(['UTF-8'], 'must be UTF-8').describe(
  'How the text is encoded.',
);

export const plainTextSchema = nameOfData(['text/plain'], 'is not supported');

/** Raises fault 103 or 107 for a text that a phone cannot show, at the member that holds it. */
export const checkText = (payload: z.core.ParsePayload<unknown>, data: string): void => {
  if (hasTags(data)) reportError(payload, { code: 107, path: ['Data'], words: tagWords });
  const limit = dtbsLimit(data);
  if (data.length <= limit) return;
  reportError(payload, {
    code: 103,
    path: ['Data'],
    words:
      limit === 239
        ? 'may have 239 characters of the GSM 03.38 alphabet at most'
        : 'may have 119 characters at most, because some are not in the GSM 03.38 alphabet',
  });
};

/** AP_Info of an answer: it repeats the caller, but never its password. */
const apInfoAnswerSchema = z
  .object({
    AP_ID: z.string().describe('As in the request.'),
    AP_TransID: z.string().describe('As in the request.'),
    Instant: z.string().meta({
      format: 'date-time',
      description: 'As in the request, written in UTC with three decimals and `Z`.',
    }),
  })
  .meta({
    id: 'AP_InfoAnswer',
    description: 'AP_Info of this request, Instant in UTC.',
    example: {
      AP_ID: 'mid://ap.example.ch',
      AP_TransID: 'REF-46009.542',
      Instant: '2024-07-02T08:06:55.134Z',
    },
  });

const msspInfoAnswerSchema = z
  .object({
    MSSP_ID: z
      .object({ URI: z.string().describe('As in the request.') })
      .describe('As the request spelled it.'),
    Instant: z.string().meta({ format: 'date-time', description: 'Time of the answer.' }),
  })
  .meta({
    id: 'MSSP_InfoAnswer',
    description: 'The service that answers.',
    example: { Instant: '2024-07-02T08:06:55.757Z', MSSP_ID: { URI: 'http://mid.vendor.ch/' } },
  });

export const answerHead = <const Major extends string, const Minor extends string>(
  major: Major,
  minor: Minor,
) => ({
  AP_Info: apInfoAnswerSchema,
  MSSP_Info: msspInfoAnswerSchema,
  MajorVersion: z.enum([major]).describe('Version of the operation.'),
  MinorVersion: z.enum([minor]).describe('Its second part.'),
});

export const mobileUserAnswerSchema = z
  .object({ MSISDN: z.string().describe('As the request wrote it.') })
  .meta({
    id: 'MobileUserAnswer',
    description: 'As the request wrote it.',
    example: { MSISDN: '+41700092501' },
  });

/** @param example Some of the codes that `Value` may have, such as `100`. */
export const statusCodeSchema = (example: string, description: string) =>
  z
    .object({ Value: z.string().meta({ description, example }) })
    .describe('How the call went; see Status codes.');

export const statusMessageSchema = z.string().describe('The name of the code.');

export const flagSchema = z.enum(['true', 'false']);
