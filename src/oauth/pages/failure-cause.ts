/** Why a login failed, in as many words as a person can do something about. */
import type { Fault, FaultCode } from '../../protocol/fault.ts';

export const failureCauses = [
  'rejected',
  'pin-blocked',
  'suspended',
  'needs-activation',
  'busy-phone',
  'no-response',
  'no-method',
  'certificate',
  'unreachable',
  'location',
  'limited',
  'code-wrong',
  'expired',
  'internal',
] as const;
export type FailureCause = (typeof failureCauses)[number];

/** Codes that are our own mistakes, or nobody's, are `internal`: the person cannot mend them. */
const causes = {
  101: 'internal',
  102: 'internal',
  103: 'internal',
  104: 'internal',
  105: 'no-method',
  107: 'internal',
  108: 'internal',
  109: 'no-method',
  208: 'no-response',
  209: 'unreachable',
  401: 'rejected',
  402: 'pin-blocked',
  403: 'suspended',
  404: 'needs-activation',
  406: 'busy-phone',
  422: 'certificate',
  450: 'location',
  900: 'internal',
} as const satisfies Record<FaultCode, FailureCause>;

export const failureCauseOf = ({ code }: Fault): FailureCause => causes[code];
