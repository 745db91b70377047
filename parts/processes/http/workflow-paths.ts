/** The addresses of workflows (workflows.route.ts), for the OpenAPI document. */
import { z } from 'zod';
import type { DescribedPart } from '../../../src/http/documentation/described-part.ts';
import {
  body,
  type OperationNode,
  type ParameterNode,
  ref,
} from '../../../src/http/documentation/nodes.ts';

const definition = {
  title: 'Contract 4711',
  text: 'Contract 4711: I agree',
  steps: [{ name: 'board', signers: [{ name: 'Anna Muster', msisdn: '+41700092501' }] }],
};

const workflowStart = z
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
        'What the workflow takes, of `process` the definition of the signature process. A chart that takes no input needs none.',
      ),
  })
  .meta({
    id: 'WorkflowStart',
    description: 'Begins an instance of a workflow.',
    example: { id: 'contract-4711', input: definition },
  });

const workflow = z
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
      .describe(
        'What the workflow publishes; of `process` the steps and their signers, with `at` in ISO 8601 and, where one process is asked for, the `link` to the page of each signer who may still sign.',
      ),
    output: z
      .unknown()
      .optional()
      .describe(
        'Its result; of `process` with the steps as in `context` and the evidence, a compact JWS.',
      ),
    createdAt: z.string().describe('When it was started, ISO 8601.'),
    endedAt: z.string().optional().describe('When it ended.'),
    reason: z.string().optional().describe('Why it failed or was cancelled.'),
  })
  .meta({ id: 'Workflow', description: 'An instance of a workflow.' });

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

const workflowEvent = z
  .looseObject({
    type: z.string().describe('Of the event. Its other members belong to the chart.'),
  })
  .meta({
    id: 'WorkflowEvent',
    description: 'An event for an instance.',
    example: { type: 'AGAIN', step: 'board', key: '1' },
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

const schemas = [
  workflowStart,
  workflow,
  workflowJournal,
  workflowEvent,
  workflowResult,
  workflowError,
];

const path = (name: string, description: string): ParameterNode => ({
  name,
  in: 'path',
  required: true,
  description,
  schema: { type: 'string' },
});
const name = path('name', '`process`, or the name of a chart that the operator has added.');
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

const shown = { description: 'The instance.', ...body(ref(workflow)) };
const done = { description: 'It is durable.', ...body(ref(workflowResult)) };

const paths: DescribedPart['paths'] = {
  '/workflows/{name}': {
    post: operation('startworkflow', 'Start a workflow, such as a signature process', {
      parameters: [name],
      requestBody: {
        required: true,
        ...body(ref(workflowStart), {
          process: {
            summary: 'One person signs',
            value: { id: 'contract-4711', input: definition },
          },
        }),
      },
      responses: refused({
        200: { description: 'The same was started before under this id.', ...body(ref(workflow)) },
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
        ...body(ref(workflowEvent), {
          again: {
            summary: 'Ask a signer once more',
            value: { type: 'AGAIN', step: 'board', key: '1' },
          },
        }),
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

export const describedWorkflows: DescribedPart = {
  tag: {
    name: 'workflows',
    'x-displayName': 'Workflows',
    description: 'Signature processes, and charts of the operator.',
  },
  paths,
  schemas,
};
