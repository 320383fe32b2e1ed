import { Refused, UsageError } from '../lib/command-line.ts';
import { CannotStart, startFailure } from '../lib/startup-error.ts';
import { ConfigError } from './config-error.ts';

/**
 * Message that replaces a stack trace, and the exit code. Code 2 means that the command line or the configuration is
 * wrong.
 */
interface CommandFailure {
  readonly message: string;
  readonly exitCode: 1 | 2;
}

/** Failure of a command. Undefined for an error that may be a bug. */
function commandFailure(error: unknown, command: string): CommandFailure | undefined {
  if (error instanceof UsageError) return { message: withHelp(error.message, command), exitCode: 2 };
  if (error instanceof Refused) return { message: error.message, exitCode: 1 };
  if (error instanceof ConfigError) return { message: error.message, exitCode: 2 };
  const message = startFailure(error);
  const isSetting = error instanceof CannotStart && error.setting !== undefined;
  return message === undefined ? undefined : { message, exitCode: isSetting ? 2 : 1 };
}

/** Adds a pointer to the help, unless the message already suggests a word. */
function withHelp(message: string, command: string): string {
  return message.endsWith('?') ? message : `${message}\n"${command} --help" shows the options.`;
}

/** Prints the failure of a command and sets the exit code. Rethrows an error that may be a bug. */
export function reportFailure(error: unknown, command: string): void {
  const failure = commandFailure(error, command);
  if (failure === undefined) throw error;
  process.stderr.write(`${failure.message}\n`);
  process.exitCode = failure.exitCode;
}
