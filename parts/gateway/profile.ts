/** Asks other services about the users behind their gateways, for the API. */

import { fault } from '../../packages/protocol/src/fault.ts';
import type { OtherServices } from '../../src/registry/other-services.ts';
import type { EventLog } from '../../src/telemetry/logger.ts';
import { createUpstreamLog } from '../../workers/log.ts';
import { createUpstreams } from '../../workers/upstreams.ts';
import { askProfile } from './answers.ts';
import type { Gateway, Gateways } from './gateways.ts';

const away = {
  ok: false,
  fault: fault(209, 'The service of this user does not answer now'),
} as const;

export const createAskProfile = (
  gateways: Gateways,
  log: EventLog,
): OtherServices['askProfile'] => {
  const upstreams = createUpstreams(createUpstreamLog(log), undefined, gateways.maxCalls);
  type About = Parameters<OtherServices['askProfile']>[1];
  const ask = async (gateway: Gateway, { msisdn, params, apId }: About) => {
    const turn = upstreams.turn(gateway.upstream.origin, apId);
    if (turn.kind === 'wait') return away;
    const told = await askProfile(gateway, msisdn, params);
    turn.end(told === undefined ? 'failed' : 'answered');
    return told ?? away;
  };
  return (name, about) => {
    const gateway = gateways.find(name);
    return gateway && ask(gateway, about);
  };
};
