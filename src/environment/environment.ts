import { z } from 'zod';

/**
 * The environment variables: what differs between two machines with the same configuration file,
 * and secrets (the master key, and a password inside REDIS_URL). This is the only file that reads
 * `process.env`. Parts have further variables (src/part/part.ts), which they read and check themselves.
 *
 * An empty variable counts as unset, because compose files and shells pass `NAME=` for "nothing".
 * An empty master key is an error: a service whose secret did not arrive must not start with a
 * fresh one.
 */

const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
const logFormats = ['json', 'pretty'] as const;

/** One node, a socket on this machine, or the nodes of a cluster. */
const isRedisAddress = (text: string): boolean =>
  /^unix:\/\S+$/.test(text) ||
  text.split(',').every((node) => /^rediss?:\/\/\S+$/.test(node.trim()));

const isMasterKey = (text: string): boolean => {
  const bytes = Buffer.from(text, 'base64url');
  return bytes.length === 32 && bytes.toString('base64url') === text;
};

/**
 * The address of a service with the default HOST and PORT. Commands ask it unless told otherwise.
 */
export const defaultUrl = 'http://127.0.0.1:8080';

const flagWords = ['0', '1', 'false', 'true'] as const;
const isSet = (word: string): boolean => word === '1' || word === 'true';
const flag = z.enum(flagWords).transform(isSet);

export const environmentSchema = z.object({
  PORT: z
    .string()
    .regex(/^\d{1,5}$/)
    .transform(Number)
    .refine((port) => port <= 65_535)
    .prefault('8080')
    .meta({
      description: 'TCP port to listen on; 0 takes any free one.',
      hint: 'a number from 0 to 65535',
    }),
  HOST: z.string().default('127.0.0.1').meta({
    description: 'Address to listen on. The default is reachable from this machine only.',
    hint: 'an address or host name',
  }),
  PARAPH_CONFIG: z.string().optional().meta({
    description:
      'Path of the configuration file. Without it the embedded default (a sandbox) is served.',
    hint: 'a path',
  }),
  PARAPH_DATA: z.string().default('.paraph').meta({
    description:
      'Directory for what the embedded default keeps: Redis data and the master key. Keep it also when you set REDIS_URL: it records that the master key was used.',
    hint: 'a path',
  }),
  REDIS_URL: z.string().refine(isRedisAddress).optional().meta({
    description:
      '`redis://…`, `rediss://…`, `unix:/path/to/socket`, or the nodes of a Redis Cluster separated by commas. `rediss://…?ca=…&cert=…&key=…` names PEM files: the authority to trust, and the certificate to show. Without it a private Redis is started.',
    hint: 'a redis://, rediss:// or unix: address',
  }),
  PARAPH_MASTER_KEY: z.string().refine(isMasterKey).optional().meta({
    description:
      'Secret under which the keys of users and of the certificate authority are stored: base64url of 32 bytes. Without it one is created in PARAPH_DATA.',
    hint: 'base64url of 32 bytes (43 characters)',
  }),
  PARAPH_NEW_MASTER_KEY: z.string().refine(isMasterKey).optional().meta({
    description:
      'For `paraph master-key add` alone: the master key that is to replace the present one ([operations/master-key.md](operations/master-key.md)).',
    hint: 'base64url of 32 bytes (43 characters)',
  }),
  PARAPH_NEW_AUTHORITY: z
    .enum([...flagWords, 'wait'])
    .transform((word) => (word === 'wait' ? word : isSet(word)))
    .optional()
    .meta({
      description:
        'Whether a start that finds no certificate authority in Redis may make one: 1 also when the master key was used before, or for a worker alone; 0 never; `wait` leaves it to `paraph authority`, and waits. Without it, an API when nothing says that the key was used (see reliability.md, An empty Redis).',
      hint: '1, true, 0, false or wait',
    }),
  PARAPH_LOG_LEVEL: z
    .enum(logLevels)
    .default('info')
    .meta({
      description: 'Least severe level that is logged.',
      hint: `one of ${logLevels.join(', ')}`,
    }),
  PARAPH_LOG_FORMAT: z
    .enum(logFormats)
    .optional()
    .meta({
      description:
        '`pretty` is for people, `json` for programs. Without it: pretty on a terminal, else JSON.',
      hint: `one of ${logFormats.join(', ')}`,
    }),
  PARAPH_REDIS_SERVER: z.string().default('redis-server').meta({
    description: 'Program of the private Redis. `npm start` and `paraph start` find or fetch one.',
    hint: 'a program',
  }),
  PARAPH_NO_DOWNLOAD: flag.prefault('0').meta({
    description: 'Never fetch a missing `redis-server`; say what to install instead.',
    hint: '1, true, 0 or false',
  }),
});

const named = (values: z.output<typeof environmentSchema>) => ({
  port: values.PORT,
  host: values.HOST,
  configurationPath: values.PARAPH_CONFIG,
  dataDirectory: values.PARAPH_DATA,
  redisUrl: values.REDIS_URL,
  masterKey: values.PARAPH_MASTER_KEY,
  newMasterKey: values.PARAPH_NEW_MASTER_KEY,
  /**
   * Whether a new authority may be made. Undefined: when the master key is new. `wait`: another
   * process makes it.
   */
  newAuthority: values.PARAPH_NEW_AUTHORITY,
  logLevel: values.PARAPH_LOG_LEVEL,
  logFormat: values.PARAPH_LOG_FORMAT,
  redisServer: values.PARAPH_REDIS_SERVER,
});

/** Holds the master key and secrets of parts: never log it whole. */
export type Environment = Readonly<ReturnType<typeof named>> & {
  /** What else begins with `PARAPH_`, by name: for parts. */
  readonly variables: Readonly<Record<string, string | undefined>>;
};

/**
 * Reads and checks the variables above.
 *
 * @throws An Error that names every bad variable and what it must be, never its value, because it
 *   goes to a log.
 */
export const readEnvironment = (
  variables: Readonly<Record<string, string | undefined>> = process.env,
): Environment => {
  const given = Object.fromEntries(
    Object.entries(variables).filter(
      ([name, value]) => value !== '' || name === 'PARAPH_MASTER_KEY',
    ),
  );
  const parsed = environmentSchema.safeParse(given);
  if (parsed.success) {
    const others = Object.entries(given).filter(
      ([name]) => name.startsWith('PARAPH_') && !Object.hasOwn(environmentSchema.shape, name),
    );
    return { ...named(parsed.data), variables: Object.fromEntries(others) };
  }
  const names = new Set(parsed.error.issues.map((issue) => String(issue.path[0])));
  throw new Error([...names].map((name) => `${name} must be ${hintOf(name)}`).join('; '));
};

const hintOf = (name: string): string => {
  const schema = Object.entries(environmentSchema.shape).find(([key]) => key === name)?.[1];
  return String(schema?.meta()?.hint ?? 'valid');
};
