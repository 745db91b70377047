/** Wraps the calls of devices, and measures them. */
import { histogram, type Registry } from '../telemetry/registry.ts';
import type { PromptResult, ReceiptResult, SigningDevice } from './device.ts';
import type { Devices } from './devices.ts';

const deviceBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** signature, delivered, fault, awaiting, unreachable; or the receipt's outcome. */
export const outcomeOf = (result: PromptResult | ReceiptResult): string => {
  if (result.kind !== 'answered') return result.kind;
  return 'answer' in result ? result.answer.kind : result.receipt;
};

/** Wraps a call of a device. */
export type AroundCall = <Result extends PromptResult | ReceiptResult>(
  kind: string,
  purpose: 'signature' | 'receipt',
  transactionId: string,
  call: () => Promise<Result>,
) => Promise<Result>;

/** @returns Devices whose calls go through `around`. */
export const aroundDevices = (inner: Devices, around: AroundCall): Devices => {
  const wrapped = (device: SigningDevice): SigningDevice => {
    const { kind } = device;
    return {
      ...device,
      prompt: (prompt) =>
        around(kind, 'signature', prompt.transactionId, () => device.prompt(prompt)),
      receipt: (prompt) =>
        around(kind, 'receipt', prompt.transactionId, () => device.receipt(prompt)),
    };
  };
  return { deviceFor: (target) => wrapped(inner.deviceFor(target)) };
};

/** Measures the time that devices take to answer, by kind. `awaiting` comes with the prompt. */
export const createDeviceTimer = (registry: Registry, now: () => number): AroundCall => {
  const seconds = histogram(
    registry,
    'device_duration_seconds',
    'Calls of devices, by kind of device, purpose (signature, receipt) and outcome.',
    ['kind', 'purpose', 'outcome'],
    deviceBuckets,
  );
  return async (kind, purpose, _transactionId, call) => {
    const since = now();
    let outcome = 'error';
    try {
      const result = await call();
      outcome = outcomeOf(result);
      return result;
    } finally {
      seconds.observe({ kind, purpose, outcome }, Math.max(now() - since, 0) / 1000);
    }
  };
};
