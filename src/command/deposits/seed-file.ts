import { type Hex, isHash } from 'viem';
import { Refused, readInput } from '#lib/command-line.ts';
import { isObject } from '#lib/json.ts';

/** Seed of an organization, with the epochs of its databases. */
export interface DepositSeed {
  readonly seed: Hex;
  readonly epochs: readonly Hex[];
}

/** Form of the file, for a command's help. */
export const SEED_USAGE = `  --seed FILE              exported seed, {"version": 1, "seed": "0x…", "epochs": ["0x…"]}; - for standard input`;

/** Reads an exported seed. Messages never contain it. @throws Refused */
export async function readSeed(file: string): Promise<DepositSeed> {
  const content = parsedFile(await readInput(file), file);
  if (!isObject(content)) throw new Refused(`${file}: must be a JSON object with version, seed and epochs.`);
  const { version, seed, epochs } = content;
  if (version !== 1) throw new Refused(`${file}: version must be 1; this program reads no other.`);
  if (!isWord(seed)) throw new Refused(`${file}: seed must be 0x followed by 64 hexadecimal digits.`);
  if (!Array.isArray(epochs) || epochs.length === 0 || !epochs.every(isWord))
    throw new Refused(`${file}: epochs must be a list of texts, each 0x followed by 64 hexadecimal digits.`);
  // An epoch that stands twice would find each address twice.
  return { seed, epochs: [...new Set(epochs.map(toLower))] };
}

/** Parses the text of a file. @throws Refused */
export function parsedFile(text: string, file: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The parser's message repeats a part of the text.
    throw new Refused(`${file} is not JSON.`);
  }
}

function toLower(word: Hex): Hex {
  return `0x${word.slice(2).toLowerCase()}`;
}

function isWord(value: unknown): value is Hex {
  return typeof value === 'string' && isHash(value);
}
