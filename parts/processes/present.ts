/** A process as HTTP shows it: with the links to the pages of its signers, and its times in text. */
import type { LinkTo } from '../../src/part/rooms.ts';
import type { Present, WorkflowView } from '../workflows/index.ts';
import type { ProcessView } from './charts/process-report.ts';
import { readOpenSigners } from './tasks/open-signers.ts';

const isoOf = (at: number): string => new Date(at).toISOString();

/** Writes the times of a process (`at`, `revokedAt`) as ISO 8601. */
const withTimes = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(withTimes);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).map(([name, member]) => [
    name,
    (name === 'at' || name === 'revokedAt') && typeof member === 'number'
      ? isoOf(member)
      : withTimes(member),
  ]);
  return Object.fromEntries(members);
};

/** Adds its `link` to each signer that has one. */
const withLinks = (context: unknown, links: readonly SignerLink[]): unknown => {
  const { steps = [], ...others } = context as ProcessView;
  const linkOf = (step: string, key: string) =>
    links.find((each) => each.step === step && each.key === key)?.link;
  return {
    ...others,
    steps: steps.map(({ signers, ...step }) => ({
      ...step,
      signers: signers.map((signer) => ({ ...signer, link: linkOf(step.name, signer.key) })),
    })),
  };
};

interface SignerLink {
  readonly step: string;
  readonly key: string;
  /** The address of the signer's page. It lets anyone read and decline, so it is never logged. */
  readonly link: string | undefined;
}

/** Adds links and times. The links are read after the view, so a first turn may lie in between. */
export const presentProcess = (
  { context, output }: Pick<WorkflowView, 'context' | 'output'>,
  links: readonly SignerLink[],
) => {
  const linked = context === undefined || links.length === 0 ? context : withLinks(context, links);
  return { context: withTimes(linked), output: withTimes(output) };
};

/** @param linkTo The page of a signer. */
export const createPresent =
  (linkTo: LinkTo): Present =>
  (view, instance) =>
    presentProcess(
      view,
      (instance === undefined ? [] : readOpenSigners(instance)).map(
        ({ step, key, instance: signer, linkVersion }) => ({
          step,
          key,
          link: linkTo(signer, linkVersion),
        }),
      ),
    );
