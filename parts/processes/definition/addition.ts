/** What another part adds to definitions (../addition.ts). Pure, for programs that only check them. */
import type { z } from 'zod';

/** Members of a definition, as they were sent. */
export type Members = Readonly<Record<string, unknown>>;

/** What programs need that only check definitions. Pure. */
export interface DefinitionAddition {
  readonly shape: {
    readonly definition: z.ZodRawShape;
    readonly step: z.ZodRawShape;
    readonly person: z.ZodRawShape;
  };
  /**
   * The members of a step, with their defaults; undefined for a step that it adds nothing to.
   *
   * @param given As they were sent.
   */
  stepOf(definition: Members, given: Members, inCompensation: boolean): Members | undefined;
  /**
   * Rules between members.
   *
   * @param steps Their members as they were sent, with their places: `steps[1]`.
   * @returns What is wrong: `steps[1].document must name a document`.
   */
  problemsIn(
    definition: Members,
    steps: readonly { readonly at: string; readonly members: Members }[],
  ): readonly string[];
  /**
   * How many characters of the text of a person it takes, in a step with an addition. Such a person
   * needs no text.
   */
  textRoomFor(text: string): number;
  /**
   * The text that a person signs. The same for the same arguments: a verifier of the evidence makes
   * it again.
   *
   * @param text Of the definition.
   * @param prepared What `prepare` has answered, as it stands in the evidence.
   */
  textOf(
    text: string,
    about: {
      readonly prepared: Members;
      /** Of {@link stepOf}. */
      readonly step: Members;
      readonly language: string | undefined;
    },
  ): string;
}

/** The members of an addition, out of a definition that was checked, a step or a person of it. */
export const membersOf = (
  addition: DefinitionAddition | undefined,
  of: keyof DefinitionAddition['shape'],
  value: object,
): Members => {
  const names = Object.keys(addition?.shape[of] ?? {});
  return Object.fromEntries(
    Object.entries(value).filter(([name, member]) => names.includes(name) && member !== undefined),
  );
};

export const isEmpty = (members: Members): boolean => Object.keys(members).length === 0;
