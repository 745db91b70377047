/** The addresses of workflows (workflows.route.ts), for the OpenAPI document. */
import { z } from 'zod';
import type { DescribedPart } from '../../../src/http/documentation/described-part.ts';
import {
  body,
  type OperationNode,
  type ParameterNode,
  ref,
} from '../../../src/http/documentation/nodes.ts';
import type { HostedWords } from '../hosted.ts';

/** What parts add to a sentence. */
const said = (
  words: readonly HostedWords[],
  about: 'start' | 'input' | 'context' | 'output',
): string => words.map((each) => each[about]).join('');

const startOf = (words: readonly HostedWords[]) =>
  z
    .strictObject({
      id: z
        .string()
        .regex(/^[A-Za-z0-9_-]{1,64}$/)
        .optional()
        .describe('Names the instance. Without it the service makes one.'),
      input: z
        .unknown()
        .optional()
        .describe(
          `What the workflow takes${said(words, 'input')}. A chart that takes no input needs none.`,
        ),
    })
    .meta({
      id: 'WorkflowStart',
      description: 'Begins an instance of a workflow.',
      example: words[0]?.examples.start.value ?? { id: 'order-7', input: { amount: 5 } },
    });

const workflowOf = (words: readonly HostedWords[]) =>
  z
    .object({
      id: z.string().describe('Of the instance.'),
      name: z.string().describe('Of the workflow.'),
      version: z.number().describe('Of its chart.'),
      status: z
        .enum(['open', 'completed', 'failed', 'cancelled'])
        .describe('Whether it has ended, and how.'),
      state: z.unknown().optional().describe('The state value of its chart.'),
      context: z
        .unknown()
        .optional()
        .describe(`What the workflow publishes${said(words, 'context')}.`),
      output: z
        .unknown()
        .optional()
        .describe(`Its result${said(words, 'output')}.`),
      createdAt: z.string().describe('When it was started, ISO 8601.'),
      endedAt: z.string().optional().describe('When it ended.'),
      reason: z.string().optional().describe('Why it failed or was cancelled.'),
    })
    .meta({ id: 'Workflow', description: 'An instance of a workflow.' });

const eventOf = (words: readonly HostedWords[]) =>
  z
    .looseObject({
      type: z.string().describe('Of the event. Its other members belong to the chart.'),
    })
    .meta({
      id: 'WorkflowEvent',
      description: 'An event for an instance.',
      example: words[0]?.examples.event.value ?? { type: 'APPROVE', by: 'Anna' },
    });

const told = z.object({
  name: z.string().describe('Of the error.'),
  message: z.string().optional().describe('Its first line.'),
  code: z.union([z.string(), z.number()]).optional().describe('Its code, where it has one.'),
});

const workflowJournal = z
  .object({
    entries: z
      .array(
        z.object({
          at: z.string().describe('When, ISO 8601.'),
          path: z.string().optional().describe('Of the child that it is about, as in an address.'),
          kind: z
            .enum(['state', 'event', 'activity', 'timer', 'effect', 'child', 'error'])
            .describe('What it is; `error`: the chart itself has failed.'),
          entered: z
            .array(z.string())
            .optional()
            .describe('Innermost states that a step has entered, as paths.'),
          type: z.string().optional().describe('Of an event.'),
          result: z.enum(['taken', 'refused']).optional().describe('Of an event.'),
          key: z.string().optional().describe('Of an event from outside: its key.'),
          times: z
            .number()
            .optional()
            .describe('So often an event was refused, one after the other.'),
          name: z
            .string()
            .optional()
            .describe('Of an activity, a timer, an effect or a child, in the chart.'),
          attempt: z.number().optional().describe('Of an activity: the try, from 1.'),
          stage: z
            .enum(['begun', 'done', 'failed', 'later', 'released', 'left'])
            .optional()
            .describe('Of an activity or a child; `left`: its state was left before it ended.'),
          tookMs: z.number().optional().describe('Of an activity, where it is known.'),
          number: z.number().optional().describe('Of an effect: unique within the instance.'),
          isPending: z.literal(true).optional().describe('The effect is not carried out yet.'),
          error: told.optional().describe('Of what has failed.'),
        }),
      )
      .describe('Oldest first, about two hundred at most.'),
    dropped: z.number().describe('How many older ones are gone.'),
  })
  .meta({
    id: 'WorkflowJournal',
    description:
      'What an instance went through: names, and no inputs, outputs or members of events.',
  });

const workflowResult = z
  .object({ result: z.enum(['taken', 'cancelled']).describe('What was done.') })
  .meta({ id: 'WorkflowResult', description: 'The event or the cancel is durable.' });

const workflowError = z
  .object({
    error: z.string().describe('For programs, such as `bad-request`.'),
    message: z.string().describe('For people. It names the place, never the value.'),
  })
  .meta({ id: 'WorkflowError', description: 'Why the request is not taken.' });

const path = (name: string, description: string): ParameterNode => ({
  name,
  in: 'path',
  required: true,
  description,
  schema: { type: 'string' },
});
const nameOf = (words: readonly HostedWords[]): ParameterNode =>
  path(
    'name',
    [...words.map(({ names }) => names), 'the name of a chart that the operator has added.'].join(
      ', or ',
    ),
  );
const id = path('id', 'Of the instance.');

const refused = (more: OperationNode['responses'] = {}): OperationNode['responses'] => ({
  ...more,
  '4XX': {
    description:
      '400 for what is not usable; 401 without AP_ID and AP_PWD; 404 for an instance that is unknown, of another application, or has ended; 429 with Retry-After.',
    ...body(ref(workflowError)),
  },
  503: {
    description:
      'There is no room (`busy`: nothing was done), or the storage of the service is away (`unavailable`). Retry-After says when to send it again.',
    ...body(ref(workflowError)),
  },
});

const authorised =
  'HTTP Basic with AP_ID and AP_PWD, each form-urlencoded (RFC 6749 section 2.3.1), and the client certificate where one is registered.';

const security: OperationNode['security'] = [
  { applicationProvider: [] },
  { applicationProvider: [], clientCertificate: [] },
];

const operation = (
  operationId: string,
  summary: string,
  node: Omit<OperationNode, 'operationId' | 'tags' | 'summary' | 'security'>,
): OperationNode => ({
  operationId,
  tags: ['workflows'],
  summary,
  description: authorised,
  security,
  ...node,
});

const done = { description: 'It is durable.', ...body(ref(workflowResult)) };

const examplesOf = (words: readonly HostedWords[], of: 'start' | 'event') =>
  words.length === 0
    ? undefined
    : Object.fromEntries(words.map(({ examples }) => [examples.as[of], examples[of]]));

const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;

/** @param words Of the parts that bring workflows. */
export const describeWorkflows = (words: readonly HostedWords[]): DescribedPart => {
  const workflowStart = startOf(words);
  const workflow = workflowOf(words);
  const workflowEvent = eventOf(words);
  const name = nameOf(words);
  const shown = { description: 'The instance.', ...body(ref(workflow)) };
  const paths: DescribedPart['paths'] = {
    '/workflows/{name}': {
      post: operation('startworkflow', `Start a workflow${said(words, 'start')}`, {
        parameters: [name],
        requestBody: {
          required: true,
          ...body(ref(workflowStart), examplesOf(words, 'start')),
        },
        responses: refused({
          200: {
            description: 'The same was started before under this id.',
            ...body(ref(workflow)),
          },
          201: { description: 'It is durable. Location names it.', ...body(ref(workflow)) },
          409: {
            description: 'Something else was started under this id.',
            ...body(ref(workflowError)),
          },
          429: {
            description:
              'Too many requests, or the application has as many open instances as it may. With Retry-After.',
            ...body(ref(workflowError)),
          },
        }),
      }),
    },
    '/workflows/{name}/{id}': {
      get: operation('showworkflow', 'Where an instance stands', {
        parameters: [name, id],
        responses: refused({ 200: shown }),
      }),
      delete: operation('cancelworkflow', 'Cancel an instance', {
        parameters: [
          name,
          id,
          {
            name: 'reason',
            in: 'query',
            required: false,
            description: 'Why.',
            schema: { type: 'string', maxLength: 500 },
          },
        ],
        responses: refused({
          202: done,
          409: {
            description: 'It has failed and compensates, or is about to end.',
            ...body(ref(workflowError)),
          },
        }),
      }),
    },
    '/workflows/{name}/{id}/journal': {
      get: operation('showjournal', 'What an instance went through', {
        parameters: [name, id],
        responses: refused({ 200: { description: 'Its journal.', ...body(ref(workflowJournal)) } }),
      }),
    },
    '/workflows/{name}/{id}/events': {
      post: operation('sendevent', 'Send an event to an instance', {
        parameters: [
          name,
          id,
          {
            name: 'Idempotency-Key',
            in: 'header',
            required: false,
            schema: { type: 'string', maxLength: 200 },
            description:
              'Sent again under the same key, the event counts once, until two hundred others have come to the instance.',
          },
        ],
        requestBody: {
          required: true,
          ...body(ref(workflowEvent), examplesOf(words, 'event')),
        },
        responses: refused({
          202: done,
          409: { description: 'Not in the state of the instance.', ...body(ref(workflowError)) },
        }),
      }),
      get: operation('followworkflow', 'Follow an instance by server-sent events', {
        parameters: [name, id],
        responses: refused({
          200: {
            description: 'The events `state` and, at its end, `end`; their data is the instance.',
            ...body({ type: 'string' }, undefined, 'text/event-stream'),
          },
        }),
      }),
    },
  };

  return {
    tag: {
      name: 'workflows',
      'x-displayName': 'Workflows',
      description: sentence(
        [...words.map(({ kinds }) => kinds), 'charts of the operator'].join(', and '),
      ),
    },
    paths,
    schemas: [
      workflowStart,
      workflow,
      workflowJournal,
      workflowEvent,
      workflowResult,
      workflowError,
    ],
  };
};
