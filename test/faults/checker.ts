/**
 * The judge: goes through the promises of the service one by one and says where the evidence
 * contradicts them.
 *
 * It is pure, and it trusts the clients' journal more than anything that the service says about
 * itself.
 */
import { acknowledgedChecks } from './checks/acknowledged.ts';
import { browserPhoneChecks } from './checks/browser-phones.ts';
import { callbackChecks } from './checks/callbacks.ts';
import { historyChecks } from './checks/history.ts';
import { outcomeChecks } from './checks/outcomes.ts';
import { phoneChecks } from './checks/phones.ts';
import { processChecks } from './checks/processes.ts';
import { refusedChecks } from './checks/refused.ts';
import { turnChecks } from './checks/turns.ts';
import type { Evidence, Violation } from './evidence.ts';
import { bulkChecks } from './loads/bulks.ts';
import { documentChecks } from './loads/documents.ts';
import { loginChecks } from './loads/logins.ts';
import { mailChecks } from './loads/mails.ts';
import { chartChecks } from './loads/own-charts.ts';

const checks = [
  ...acknowledgedChecks,
  ...outcomeChecks,
  ...callbackChecks,
  ...historyChecks,
  ...phoneChecks,
  ...browserPhoneChecks,
  ...refusedChecks,
  ...turnChecks,
  ...processChecks,
  ...bulkChecks,
  ...mailChecks,
  ...loginChecks,
  ...chartChecks,
  ...documentChecks,
];

export const judge = (evidence: Evidence): readonly Violation[] =>
  checks.flatMap((check) => [...check(evidence)]);
