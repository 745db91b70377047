/**
 * The admin API, for the commands of operators.
 *
 * With a token it is called over HTTP. Without one it runs in this process, over the Redis of the
 * service. Access to that Redis means access to all of its data, so a login would protect nothing.
 */
import type { Command } from 'commander';
import { causeOf } from '../../packages/client/src/fetch.ts';
import { adminErrorSchema } from '../console/openapi.ts';
import { serviceUrl } from './connection.ts';
import {
  type CliContext,
  CommandEnd,
  type Done,
  type LocalNeeds,
  ok,
  type Report,
  UsageError,
  variable,
} from './context.ts';
import type { Outcome } from './exit-codes.ts';
import { type Column, table } from './screen.ts';

export interface AdminFlags {
  readonly url?: string;
  readonly tokenEnv?: string;
}

const tokenVariable = 'PARAPH_TOKEN';

/** The members of a query. Lists are sent with commas; undefined members are not sent. */
export type Query = Readonly<
  Record<string, string | number | boolean | readonly unknown[] | undefined>
>;

/**
 * Paths are given in parts, below `/admin/api`. Every answer without success throws {@link CommandEnd}.
 */
export interface Admin {
  /** The subject of the error when nothing answers. */
  readonly place: 'Redis' | 'The service';
  /** @throws UsageError where it is known that there is no search index. */
  needsIndex(): void;
  get<T>(path: readonly string[], query?: Query): Promise<T>;
  post<T>(path: readonly string[], body: object): Promise<T>;
  put<T>(path: readonly string[], body: object): Promise<T>;
  delete<T>(path: readonly string[]): Promise<T>;
  /**
   * Resolves when the stream is open. The stream ends at Ctrl-C, and by itself after some minutes.
   */
  events<T>(path: readonly string[], query: Query): Promise<AsyncIterable<T>>;
  /** Gives an order and returns its progress. Ctrl-C ends the order, too. */
  follow<T>(path: readonly string[]): Promise<AsyncIterable<T>>;
}

/** The end of a command that did nothing. @param refused The name of the error in the JSON. */
export const refused = (
  outcome: Outcome,
  refused: string,
  problem: string,
  document: object = {},
): CommandEnd => new CommandEnd({ outcome, document: { ...document, refused }, problem });

const outcomes: Readonly<Record<number, Outcome>> = {
  400: 'usage',
  404: 'unknown',
  500: 'unexpected',
  503: 'outstanding',
};
/** Error codes that are clear only with their path. */
const renamed: Readonly<Record<string, string>> = {
  'replays unknown': 'unknown-bulk',
  'users unknown': 'unknown-user',
  'users too-many': 'too-many-tokens',
  'tokens unknown': 'unknown-token',
  'clients unknown': 'unknown-client',
};

const unreachable = (problem: string): CommandEnd =>
  new CommandEnd({ outcome: 'unreachable', document: {}, problem });

const createAdmin = (
  { signal, parts }: CliContext,
  base: string,
  headers: Readonly<Record<string, string>>,
  send: (request: Request) => Promise<Response>,
): Omit<Admin, 'place' | 'needsIndex'> => {
  const notTheApi = unreachable(`What answers at ${base} is not the admin API of a Paraph.`);
  const ask = async (
    method: string,
    path: readonly string[],
    { query = {}, body, ...init }: { query?: Query; body?: object; signal?: AbortSignal } = {},
  ): Promise<Response> => {
    const url = new URL(`${base}/admin/api/${path.map(encodeURIComponent).join('/')}`);
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined) url.searchParams.set(name, String(value));
    }
    const response = await send(
      new Request(url, {
        ...init,
        method,
        redirect: 'manual',
        headers: { ...headers, 'content-type': 'application/json' },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      }),
    );
    if (response.ok) return response;
    const told = adminErrorSchema.safeParse(await response.json().catch(() => undefined)).data;
    if (told === undefined) throw notTheApi;
    const { error, message } = told;
    // The service answers without its Redis: the same error as on the machine of the service.
    if (error === 'unavailable') throw unreachable(`${message}.`);
    const outcome = outcomes[response.status] ?? 'refused';
    const name = `${path[0]} ${error}`;
    const ofPart = parts
      .map(({ commands }) => commands?.errors?.[name])
      .find((each) => each !== undefined);
    throw refused(outcome, renamed[name] ?? ofPart ?? error, `${message}.`);
  };
  const read = async <T>(response: Response): Promise<T> =>
    (await response.json().catch(() => {
      throw notTheApi;
    })) as T;
  return {
    get: async (path, query) => read(await ask('GET', path, { ...(query && { query }) })),
    post: async (path, body) => read(await ask('POST', path, { body })),
    put: async (path, body) => read(await ask('PUT', path, { body })),
    delete: async (path) => read(await ask('DELETE', path)),
    events: async (path, query) => eventsIn(await ask('GET', path, { query }), { signal }),
    follow: async (path) => eventsIn(await ask('POST', path, { signal })),
  };
};

/** Yields the data of each event. Source: HTML Living Standard, section 9.2. */
async function* eventsIn<T>(
  { body }: Response,
  until: { signal?: AbortSignal } = {},
): AsyncGenerator<T> {
  if (body === null) return;
  let text = '';
  for await (const chunk of body.pipeThrough(new TextDecoderStream(), until)) {
    const blocks = `${text}${chunk}`.split('\n\n');
    text = blocks.pop() ?? '';
    for (const block of blocks) {
      const data = /^data: (.*)$/m.exec(block)?.[1];
      if (data !== undefined) yield JSON.parse(data);
    }
  }
}

const remoteAdmin = (context: CliContext, { url: given }: AdminFlags, token: string): Admin => {
  const url = serviceUrl(context, given, 'The token');
  return {
    place: 'The service',
    needsIndex: () => undefined,
    ...createAdmin(context, url, { authorization: `Bearer ${token}` }, (request) =>
      fetch(request).catch((error: unknown) => {
        throw unreachable(`No signature service at ${url}: ${causeOf(error)}.`);
      }),
    ),
  };
};

const withoutIndex =
  'This configuration keeps no search index (operations.index), so nothing is listed.';

/** @throws UsageError */
export const withAdmin = async (
  context: CliContext,
  flags: AdminFlags,
  needs: LocalNeeds,
  work: (admin: Admin) => Promise<Report>,
): Promise<Report> => {
  const token = variable(context, flags.tokenEnv ?? tokenVariable);
  if (token === undefined && (flags.url !== undefined || flags.tokenEnv !== undefined)) {
    throw new UsageError(
      `A service elsewhere needs a token: in ${tokenVariable}, or the variable that --token-env names.`,
    );
  }
  if (token !== undefined) return work(remoteAdmin(context, flags, token));
  return context.withLocalApi(context, needs, ({ indexed, send }) =>
    work({
      place: 'Redis',
      needsIndex: () => {
        if (!indexed) throw new UsageError(withoutIndex);
      },
      ...createAdmin(context, 'http://localhost', {}, send),
    }),
  );
};

/** Adds the options for the address of a service. */
export const addAdminOptions = (command: Command): Command =>
  command
    .option('--url <url>', 'base URL of a service, which needs a token (default: PARAPH_URL)')
    .option(
      '--token-env <name>',
      `environment variable that holds the token (default: ${tokenVariable})`,
    );

/**
 * Adds {@link addAdminOptions} to a command, and passes the API there to its work.
 *
 * @param check Runs before the service is called; throws UsageError.
 */
export const addAdminAction = <Args extends readonly unknown[]>(
  command: Command,
  context: CliContext,
  done: Done,
  work: (admin: Admin, ...args: Args) => Promise<Report>,
  check: (...args: Args) => void = () => undefined,
  secrets = false,
): void => {
  addAdminOptions(command).action(async (...args: Args) => {
    check(...args);
    const group = command.parent?.name() ?? '';
    const files = context.parts.some(({ commands }) => commands?.readsFiles?.includes(group));
    const needs = { secrets, files };
    done(await withAdmin(context, command.opts(), needs, (admin) => work(admin, ...args)));
  });
};

/**
 * {@link addAdminAction} for users, tokens, secrets and keys. At the Redis of the service these
 * commands need the master key.
 */
export const secretActions =
  (context: CliContext, done: Done) =>
  <Args extends readonly unknown[]>(
    command: Command,
    work: (admin: Admin, ...args: Args) => Promise<Report>,
    check?: (...args: Args) => void,
  ): void =>
    addAdminAction(command, context, done, work, check, true);

interface Page<Row> {
  readonly rows?: readonly Row[];
  readonly entries?: readonly Row[];
  readonly total?: number;
  readonly cursor?: string;
}

export interface ListFlags {
  readonly limit: number;
  readonly cursor?: string;
}

/** Reads a list page by page, up to the limit. */
export const reportList = async <Row>(
  context: CliContext,
  admin: Admin,
  { limit: max, cursor: first }: ListFlags,
  list: {
    readonly command: string;
    readonly path: string;
    readonly query: Query;
    readonly pageRows: number;
    /** The member of the JSON that has the rows. */
    readonly member: string;
    readonly none: string;
    readonly columns: readonly Column<Row>[];
    readonly document: (row: Row) => object;
  },
): Promise<Report> => {
  const rows: Row[] = [];
  let cursor = first;
  let total: number | undefined;
  do {
    const limit = Math.min(max - rows.length, list.pageRows);
    const page = await admin
      .get<Page<Row>>([list.path], { ...list.query, limit, cursor })
      .catch((error) => {
        if (!String(error).includes('cursor is not valid')) throw error;
        throw new UsageError(`--cursor must be one that paraph ${list.command} --json gave.`);
      });
    rows.push(...(page.rows ?? page.entries ?? []));
    total ??= page.total;
    cursor = page.cursor;
  } while (cursor !== undefined && rows.length < max && !context.signal.aborted);
  const of = total === undefined || total === rows.length ? '' : ` of ${total}`;
  const more = cursor === undefined ? '' : `${rows.length}${of} shown; there are more: --limit\n`;
  const text = rows.length === 0 ? list.none : `${table(list.columns, rows, context)}${more}`;
  return ok({ [list.member]: rows.map(list.document), total, cursor }, text);
};
