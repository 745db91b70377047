export function shownText(text: string): string;
