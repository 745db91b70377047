/** The people of a process who may still sign, with what a link to the page of each is made of. */

import type { Instance } from '../../../packages/engine/src/engine.ts';
import {
  addressOf,
  type ChildActor,
  childAt,
  pathOf,
} from '../../../packages/engine/src/record.ts';
import { isStep } from '../charts/process-plan.ts';
import { itemsOf, type ProcessContext } from '../charts/process-progress.ts';
import type { SignerContext } from '../charts/signer-contract.ts';

export interface OpenSigner {
  /** Name of the step. */
  readonly step: string;
  readonly key: string;
  /** The address of the signer: a child of the process. */
  readonly instance: string;
  readonly linkVersion: number;
}

/** @param process An instance of one. */
export const readOpenSigners = ({ id, record }: Instance): readonly OpenSigner[] => {
  if (record === undefined) return [];
  const context = record.context as ProcessContext;
  return itemsOf(context).flatMap((item, index) => {
    const branches = isStep(item) ? (context.progress[index]?.branches ?? []) : [];
    return branches.flatMap(({ key, child, state, isLive }) => {
      const path = pathOf('', child);
      const signer = (childAt(record, path) as ChildActor | undefined)?.chart;
      const mayStillSign = isLive && (state === 'open' || state === 'unreached');
      if (signer?.status !== 'active' || !isStep(item) || !mayStillSign) return [];
      const { linkVersion } = signer.context as SignerContext;
      return [{ step: item.name, key, instance: addressOf(id, path), linkVersion }];
    });
  });
};
