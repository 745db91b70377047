/**
 * The package `paraph/workflow`: the engine for charts of one's own (packages/engine/src/index.ts),
 * and the activities that the service provides to charts that it runs.
 */
export * from '../../../packages/engine/src/index.ts';
export { openWorkflows } from './open.ts';
export {
  type MailInput,
  type MailOutput,
  type ReceiptInput,
  type ReceiptOutput,
  type SignInput,
  type SignOutput,
  service,
  type WebhookInput,
  type WebhookOutput,
} from './service-activities.ts';
