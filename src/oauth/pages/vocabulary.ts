import type { LoginLanguage } from '../../registry/oauth-client.ts';
import type { Words } from './words.ts';
import { de } from './words-de.ts';
import { en } from './words-en.ts';
import { fr } from './words-fr.ts';
import { it } from './words-it.ts';

const vocabulary: Readonly<Record<LoginLanguage, Words>> = { en, de, fr, it };

export const wordsOf = (language: LoginLanguage): Words => vocabulary[language];
