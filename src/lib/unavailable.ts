import { reasonOf } from './startup-error.ts';

/** Temporary failure of a dependency that cannot be reached, such as the database. */
export class Unavailable extends Error {
  /** Full sentence without its period that is safe to show to clients. The message is the cause's. */
  readonly what: string;

  constructor(what: string, cause: unknown) {
    super(reasonOf(cause), { cause });
    this.name = 'Unavailable';
    this.what = what;
  }
}
