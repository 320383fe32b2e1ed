import { HOSTILE_TEXTS } from '../../test/lab/hostile-input.ts';
import type { Random } from '../faults/random.ts';

const CHARACTERS = [...'0aZ-_.,:;/?#[]@!$&\'()*+= %"<>\\^`{|}~\t\n\u0000\u007fé٣🦊'];
const NUMBERS = [
  '0',
  '-0',
  '1',
  '-1',
  '1e3',
  '1e+21',
  '0x10',
  '1.5',
  '2147483648',
  '9007199254740992',
  '1e999',
];
const LONGEST_COPY = 2_000;

type TextMutation = (random: Random, text: string) => string;

/** Some mutations keep a value close to a valid one, others replace it entirely. */
const MUTATIONS: readonly TextMutation[] = [
  random => random.pick(HOSTILE_TEXTS),
  random => random.pick(NUMBERS),
  random => anyText(random),
  () => '',
  (random, text) => text.slice(0, random.below(text.length + 1)),
  (random, text) => text.slice(random.below(text.length + 1)),
  (random, text) => edited(random, text, ''),
  (random, text) => edited(random, text, random.pick(CHARACTERS)),
  (random, text) => text + random.pick(CHARACTERS),
  (random, text) => random.pick(CHARACTERS) + text,
  (random, text) => text.repeat(random.between(2, 5)).slice(0, LONGEST_COPY),
  (random, text) => (random.chance(0.5) ? text.toUpperCase() : text.toLowerCase()),
  (_random, text) => `${text},${text}`,
  (_random, text) => ` ${text} `,
];

/** Mutates a text. The result has no lone surrogates, which cannot be percent-encoded. */
export function mutatedText(random: Random, text: string): string {
  return random.pick(MUTATIONS)(random, text).toWellFormed();
}

/** Random text of up to twelve characters from all of Unicode. */
export function anyText(random: Random): string {
  return Array.from({ length: random.below(13) }, () =>
    random.chance(0.5) ? random.pick(CHARACTERS) : String.fromCodePoint(random.below(0x11_0000)),
  )
    .join('')
    .toWellFormed();
}

/** Replaces one character of the text. */
function edited(random: Random, text: string, character: string): string {
  const at = random.below(text.length + 1);
  return text.slice(0, at) + character + text.slice(at + 1);
}
