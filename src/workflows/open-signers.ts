/** The people of a process who may still sign, with what a link to the page of each is made of. */
import { isStep } from '../../machines/process-plan.ts';
import { itemsOf, type ProcessContext } from '../../machines/process-progress.ts';
import type { SignerContext } from '../../machines/signer-contract.ts';
import type { Engine, Instance } from '../engine/engine.ts';
import { childInstanceId } from '../engine/interpret.ts';

export interface OpenSigner {
  /** Name of the step. */
  readonly step: string;
  readonly key: string;
  /** Of the signer: a child of the process. */
  readonly instance: string;
  readonly linkVersion: number;
}

/** Reads the open children only, with one call for each. @param process An instance of one. */
export const readOpenSigners = async (
  engine: Pick<Engine, 'find'>,
  { id, record }: Instance,
): Promise<readonly OpenSigner[]> => {
  if (record === undefined) return [];
  const context = record.context as ProcessContext;
  const wanted = itemsOf(context).flatMap((item, index) => {
    const branches = isStep(item) ? (context.progress[index]?.branches ?? []) : [];
    return branches.flatMap(({ key, child, state, isLive }) => {
      const run = record.children?.[child]?.run;
      const mayStillSign = isLive && (state === 'open' || state === 'unreached');
      if (run === undefined || !isStep(item) || !mayStillSign) return [];
      return [{ step: item.name, key, instance: childInstanceId(id, child, run) }];
    });
  });
  const found = await Promise.all(
    wanted.map(async (signer): Promise<readonly OpenSigner[]> => {
      const child = await engine.find(signer.instance);
      if (child?.ended !== 'no' || child.record === undefined) return [];
      return [{ ...signer, linkVersion: (child.record.context as SignerContext).linkVersion }];
    }),
  );
  return found.flat();
};
