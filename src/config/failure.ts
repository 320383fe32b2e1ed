import { Refused, UsageError } from '../lib/command-line.ts';
import { CannotStart, startFailure } from '../lib/startup-error.ts';
import { ConfigError } from './config-error.ts';

/** The text that replaces a stack trace, and the exit code: 2 where the command line or the configuration is at fault. */
export interface Failure {
  readonly message: string;
  readonly exitCode: 1 | 2;
}

/** The failure of a command of the program; undefined for an error that may be a mistake of ours. */
export function failureOf(error: unknown, command: string): Failure | undefined {
  if (error instanceof UsageError) return { message: withHelp(error.message, command), exitCode: 2 };
  if (error instanceof Refused) return { message: error.message, exitCode: 1 };
  if (error instanceof ConfigError) return { message: error.message, exitCode: 2 };
  const message = startFailure(error);
  const isSetting = error instanceof CannotStart && error.setting !== undefined;
  return message === undefined ? undefined : { message, exitCode: isSetting ? 2 : 1 };
}

/** Points to the help unless the message suggests the right word already. */
function withHelp(message: string, command: string): string {
  return message.endsWith('?') ? message : `${message}\n"${command} --help" shows the options.`;
}

/** Prints what a command failed with and sets the exit code. Throws an error that may be a mistake of ours. */
export function reportFailure(error: unknown, command: string): void {
  const failure = failureOf(error, command);
  if (failure === undefined) throw error;
  process.stderr.write(`${failure.message}\n`);
  process.exitCode = failure.exitCode;
}
