import { reasonOf } from './startup-error.ts';

/** Failure of something that the program depends on and cannot reach for a while, such as its database. */
export class Unavailable extends Error {
  /** A whole sentence without its end that anybody may read. The message is the cause's. */
  readonly what: string;

  constructor(what: string, cause: unknown) {
    super(reasonOf(cause), { cause });
    this.name = 'Unavailable';
    this.what = what;
  }
}
