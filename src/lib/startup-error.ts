/**
 * Something that the program needs and cannot have, such as a database or a key. Its message is for whoever runs it, who
 * has no use for a stack.
 */
export class CannotStart extends Error {
  /** Path of the setting that has to change, such as `payments.database`; undefined when it may be none. */
  readonly setting: string | undefined;

  /** `what` is a whole sentence without its end: `The database cannot be used`. */
  constructor(what: string, cause: unknown, setting?: string) {
    super(`${what}: ${reasonOf(cause)}`, { cause });
    this.name = 'CannotStart';
    this.setting = setting;
  }
}

/** The error with the place of its setting (file, line and path) in front, when it names one. */
export function atPlace(error: unknown, placeOf: (setting: string) => string): unknown {
  if (!(error instanceof CannotStart) || error.setting === undefined) return error;
  return new CannotStart(placeOf(error.setting), error, error.setting);
}

/** What to print instead of a stack; undefined for what may be a mistake of ours. */
export function startFailure(error: unknown): string | undefined {
  if (error instanceof CannotStart) return error.message;
  // A call that the system refused: an address in use, a file that must not be read.
  return error instanceof Error && 'syscall' in error ? reasonOf(error) : undefined;
}

/** What an error says. Of several addresses that were tried in vain, only the parts have messages. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof AggregateError && error.message === '') return error.errors.map(reasonOf).join('; ');
  return error.message;
}
