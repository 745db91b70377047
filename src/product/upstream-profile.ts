/** Asks other services about the users behind their gateways, for the API. */

import { createUpstreamLog } from '../../workers/log.ts';
import { createUpstreams } from '../../workers/upstreams.ts';
import type { AskUpstreamProfile } from '../http/operation.ts';
import { fault, refuse } from '../protocol/fault.ts';
import { askProfile } from '../sscd/gateway-answers.ts';
import type { Core } from './core.ts';

const away = fault(209, 'The service of this user does not answer now');

export const createAskUpstreamProfile = ({ gateways, eventLog }: Core): AskUpstreamProfile => {
  const upstreams = createUpstreams(createUpstreamLog(eventLog), undefined, gateways.maxCalls);
  return async (name, { msisdn, params, apId }) => {
    const gateway = gateways.find(name);
    if (gateway === undefined) return refuse(900);
    const turn = upstreams.turn(gateway.upstream.origin, apId);
    if (turn.kind === 'wait') return { ok: false, fault: away };
    const told = await askProfile(gateway, msisdn, params);
    turn.end(told === undefined ? 'failed' : 'answered');
    return told ?? { ok: false, fault: away };
  };
};
