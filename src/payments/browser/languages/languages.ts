import { ARABIC } from './ar.ts';
import { GERMAN } from './de.ts';
import { ENGLISH, type Texts } from './en.ts';

/** All languages of pages and mails for payers, by their codes. Only the server has all at once (Decision 445). */
const LANGUAGES: Readonly<Record<string, Texts>> = { en: ENGLISH, de: GERMAN, ar: ARABIC };

/** Texts in a language; English for an unknown one. */
export function textsIn(language: string | null | undefined): Texts {
  return knownTexts(language ?? '') ?? ENGLISH;
}

/** Texts for a reader with these languages, such as `de-AT` and `en`, the preferred one first. */
export function textsFor(languages: readonly string[]): Texts {
  const known = languages.map(one => knownTexts(one.toLowerCase().split('-')[0] ?? ''));
  return known.find(texts => texts !== undefined) ?? ENGLISH;
}

function knownTexts(code: string): Texts | undefined {
  return Object.hasOwn(LANGUAGES, code) ? LANGUAGES[code] : undefined;
}

/** Direction in which a language is written. */
export function directionOf({ language }: Pick<Texts, 'language'>): 'ltr' | 'rtl' {
  return language === 'ar' ? 'rtl' : 'ltr';
}
