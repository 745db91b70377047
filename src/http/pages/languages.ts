/** The languages in which the pages and mails for people exist. */
export const pageLanguages = ['en', 'de', 'fr', 'it'] as const;
export type PageLanguage = (typeof pageLanguages)[number];
