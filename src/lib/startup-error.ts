/** Startup failure, such as an unreachable database or a missing key. The operator sees the message without a stack. */
export class CannotStart extends Error {
  /** Path of the setting to change, such as `payments.database`; undefined when no single setting is at fault. */
  readonly setting: string | undefined;

  /** `what` is a full sentence without its period: `The database cannot be used`. */
  constructor(what: string, cause: unknown, setting?: string) {
    super(`${what}: ${reasonOf(cause)}`, { cause });
    this.name = 'CannotStart';
    this.setting = setting;
  }
}

/** Prefixes the error with the location of its setting (file, line and path), if it names one. */
export function withLocation(error: unknown, locationOf: (setting: string) => string): unknown {
  if (!(error instanceof CannotStart) || error.setting === undefined) return error;
  return new CannotStart(locationOf(error.setting), error, error.setting);
}

/** Message to print instead of a stack; undefined when the error may be a bug. */
export function startFailure(error: unknown): string | undefined {
  if (error instanceof CannotStart) return error.message;
  // System call failures: an address in use, a file without read permission.
  return error instanceof Error && 'syscall' in error ? reasonOf(error) : undefined;
}

/** Message of an error. When several addresses failed, only the inner errors have messages. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof AggregateError && error.message === '') return error.errors.map(reasonOf).join('; ');
  return error.message;
}
