import { reasonOf } from './startup-error.ts';

/** Temporary failure of a dependency that cannot be reached, such as the database. */
export class Unavailable extends Error {
  /** Sentence without its period, safe to show to clients. `message` is that of the cause and is for the log only. */
  readonly what: string;

  constructor(what: string, cause: unknown) {
    super(reasonOf(cause), { cause });
    this.name = 'Unavailable';
    this.what = what;
  }
}
