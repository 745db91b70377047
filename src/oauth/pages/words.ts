import type { LoginLanguage } from '../../registry/oauth-client.ts';
import { de } from './words-de.ts';
import { en, type Words } from './words-en.ts';
import { fr } from './words-fr.ts';
import { it } from './words-it.ts';

const words: Readonly<Record<LoginLanguage, Words>> = { en, de, fr, it };

export const wordsOf = (language: LoginLanguage): Words => words[language];
