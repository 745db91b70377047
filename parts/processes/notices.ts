/**
 * What applications are told of their processes: the effects of the charts as messages. What is
 * carried out or told again is the same message.
 */
import { readAddress } from '../../packages/engine/src/record.ts';
import type { Tellers } from '../../src/http/outgoing/tellers.ts';
import type { EffectOf, ProcessEffects } from './stock-process.ts';

export const createNotices = ({ tell }: Pick<Tellers, 'tell'>): ProcessEffects => {
  const from = ({ id, address }: EffectOf) => ({ id, instance: readAddress(address).id });
  return {
    notify: ({ what, apId, process, step, key, person, linkVersion, code }, effect) => {
      const signer = what === 'unreached' ? undefined : { instance: effect.address, linkVersion };
      const about = { apId, title: process.title, step, key, name: person.name };
      return tell({ what, ...about, signer, code }, from(effect));
    },
    notifyProcess: ({ what, apId, process, step, state, reason, refusals }, effect) =>
      tell({ what, apId, title: process.title, step, state, reason, refusals }, from(effect)),
    tell: ({ url, apId, process, failure }, effect) =>
      tell(
        {
          what: 'told',
          apId,
          title: process.title,
          url,
          step: failure?.step,
          reason: failure?.reason,
        },
        from(effect),
      ),
  };
};
