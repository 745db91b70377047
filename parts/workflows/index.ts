/**
 * The public face of this part, for the parts that need it: what they bring
 * ({@link HostedWorkflows}), and what their workflows are made with. What a process may not need
 * is given when it is opened (hosted.ts), not here.
 */
export { createMailGate, mailPolicy } from './activities/mail-activity.ts';
export { onceRedisAnswers } from './activities/until-redis.ts';
export type {
  MailOutput,
  ReceiptOutput,
  SignAsk,
  Signed,
  SignOutput,
  SignResult,
  WebhookOutput,
} from './charts/service-activities.ts';
export type { WorkflowEvent } from './console/workflow-detail.ts';
export type { WorkflowOrders } from './console/workflow-orders.ts';
export { maxDurationMs, minDurationMs, readDuration, readInstant } from './duration.ts';
export type {
  ChartFiles,
  HostedConsole,
  HostedPage,
  HostedRooms,
  HostedWords,
  HostedWork,
  HostedWorkflows,
  HostedWorkRooms,
  Present,
  ServiceWorkflow,
} from './hosted.ts';
export { maxPeople, processName, workflowDataSchema } from './instances/contract.ts';
export type { WorkflowView } from './instances/workflows.ts';
export { MailError, type Mailer } from './mail.ts';
export { mailSettings } from './mail-settings.ts';
export { workflowsOf } from './queue.ts';
export type { InputRules } from './workflow-queue.ts';
