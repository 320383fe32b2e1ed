import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';
import { didYouMean } from './broken-rule.ts';

/** Invalid command line. The message names the argument and what would be right. Exit code 2. */
export class UsageError extends Error {}

/**
 * Failure of a command because something is missing or already exists. The message is for the operator. Exit code 1.
 */
export class Refused extends Error {}

/** Options of a command and its use of positional arguments. */
interface ArgumentForm {
  readonly options: ParseArgsOptionsConfig;
  /** False when absent. */
  readonly allowPositionals?: boolean;
}

/** Reads the arguments of a command. @throws UsageError */
export function readArguments<const Form extends ArgumentForm>(args: readonly string[], form: Form) {
  try {
    return parseArgs({ ...form, args: [...args] });
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new UsageError(unknownOption(message, Object.keys(form.options)) ?? message, { cause: error });
  }
}

/** Names the nearest known option instead of advice about positional arguments. */
function unknownOption(message: string, known: readonly string[]): string | undefined {
  const [said, option] = /^Unknown option '(-[^']+)'/.exec(message) ?? [];
  if (said === undefined || option === undefined) return undefined;
  const meant = didYouMean(option.replace(/^--?/, ''), known);
  return meant === undefined ? said : `${said}; did you mean --${meant}?`;
}

/** Number in an option; undefined when it is absent. @throws UsageError */
export function numberOption(option: string, value: string | undefined): number | undefined {
  if (value !== undefined && !/^\d{1,15}$/.test(value)) throw new UsageError(`--${option} must be a number`);
  return value === undefined ? undefined : Number(value);
}

/** Text of a file that an argument names; `-` is standard input. @throws Refused */
export function readInput(file: string): Promise<string> {
  return (file === '-' ? text(process.stdin) : readFile(file, 'utf8')).catch((cause: unknown) => {
    // Node's own error repeats the name.
    if (MAYBE_SECRET.test(file)) throw new Refused(UNNAMED);
    throw new Refused(`${file} cannot be read.`, { cause });
  });
}

/** A key or a seed in hexadecimal digits, or the words of one, that was given in place of a file. */
const MAYBE_SECRET = /[0-9a-f]{64}|(?:\w+\s+){11}/i;
const UNNAMED =
  'A file cannot be read. Its name is not repeated, because it may be a key: write a key to a file, and name that.';
