import type { Texts } from './en.ts';

/** A decimal number, such as `1234.5`, exactly, as a language writes it: `1.234,5`. */
export function localNumber({ locale }: Pick<Texts, 'locale'>, number: string): string {
  const [whole = '', fraction] = number.split('.');
  const numbers = new Intl.NumberFormat(locale);
  const point = numbers.formatToParts(0.5).find(({ type }) => type === 'decimal')?.value ?? '.';
  const text = numbers.format(BigInt(whole));
  return fraction === undefined ? text : `${text}${point}${fraction}`;
}
