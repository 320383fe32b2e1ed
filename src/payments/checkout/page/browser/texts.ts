import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import { type Denomination, plainUnits } from '#pages/browser/amounts.ts';
import type { Texts } from '#payments/browser/languages/en.ts';
import { localNumber } from '#payments/browser/languages/local-number.ts';

/** Texts of the page in its language. */
export const PageTexts = createContext<Texts | undefined>(undefined);

export function useTexts(): Texts {
  const texts = useContext(PageTexts);
  if (texts === undefined) throw new Error('The page has no texts.');
  return texts;
}

/** Loads the texts in a document's language. The page has asked for their file before (Decision 445). */
export async function textsOf({ documentElement }: Document): Promise<Texts> {
  if (documentElement.lang === 'de') return (await import('#payments/browser/languages/de.ts')).GERMAN;
  if (documentElement.lang === 'ar') return (await import('#payments/browser/languages/ar.ts')).ARABIC;
  return (await import('#payments/browser/languages/en.ts')).ENGLISH;
}

/** Text of a button that the merchant may choose, for example `Donate`. Only the usual one is ours: `usual`. */
export function buttonTextIn(text: string, usual: string): string {
  return text === USUAL_BUTTON ? usual : text;
}

const USUAL_BUTTON = 'Pay';

/** Smallest units in whole ones with the symbol, exactly, as the language writes numbers: `1,234.5 USDC`. */
export function amountIn(
  texts: Pick<Texts, 'locale'>,
  units: bigint,
  { symbol, decimals }: Denomination,
): string {
  return `${localNumber(texts, plainUnits(units, decimals))} ${symbol}`;
}
