export function openAll(): void;
export function widths(): { readonly content: number; readonly window: number };
export function background(): string;
export function focused(): {
  readonly text: string;
  readonly inMain: boolean;
  readonly outline: string;
};
export function brokenLinks(): readonly string[];
export function repeatedIds(): readonly string[];
export function poorContrasts(): readonly {
  readonly text: string;
  readonly ratio: number;
  readonly needed: number;
}[];
