import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';
import { didYouMean } from './broken-rule.ts';

/** A command line that cannot be understood. Its message names the argument and what would be right. Exit code 2. */
export class UsageError extends Error {}

/** Something that is missing, or exists already, so that a command fails. Its message is for the operator. Exit code 1. */
export class Refused extends Error {}

/** Options of a command, and whether it takes anything else. */
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
