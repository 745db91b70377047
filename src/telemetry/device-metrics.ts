/**
 * Devices: how long each kind takes to say something, and what it says. A person's own time is not in it; a device that
 * shows a prompt answers `awaiting` at once.
 */
import { Histogram, type Registry } from 'prom-client';
import type { PromptResult, ReceiptResult, SigningDevice } from '../sscd/device.ts';
import type { Devices } from '../sscd/devices.ts';
import { prefix } from './registry.ts';

const buckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** signature, delivered, fault, awaiting, unreachable; or the receipt's outcome. */
export const outcomeOf = (result: PromptResult | ReceiptResult): string => {
  if (result.kind !== 'answered') return result.kind;
  return 'answer' in result ? result.answer.kind : result.receipt;
};

export const createDeviceMetrics = (registry: Registry, now: () => number): ((inner: Devices) => Devices) => {
  const seconds = new Histogram({
    name: `${prefix}device_duration_seconds`,
    help: 'Calls of devices, by kind of device, purpose (signature, receipt) and outcome.',
    labelNames: ['kind', 'purpose', 'outcome'] as const,
    buckets,
    registers: [registry],
  });
  const timed = async <R extends PromptResult | ReceiptResult>(
    kind: string,
    purpose: 'signature' | 'receipt',
    call: () => Promise<R>,
  ): Promise<R> => {
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
  const metered = (device: SigningDevice): SigningDevice => ({
    kind: device.kind,
    screen: device.screen,
    upstream: device.upstream,
    prompt: (prompt) => timed(device.kind, 'signature', () => device.prompt(prompt)),
    receipt: (prompt) => timed(device.kind, 'receipt', () => device.receipt(prompt)),
  });
  return (inner) => ({ deviceFor: (target) => metered(inner.deviceFor(target)) });
};
