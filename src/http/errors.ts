/** What a client is told in place of an answer; `headers` are added to it. `cause` is for our log only. */
export class HttpError extends Error {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    status: number,
    message: string,
    { headers = {}, cause }: { headers?: Readonly<Record<string, string>>; cause?: unknown } = {},
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'HttpError';
    this.status = status;
    this.headers = headers;
  }
}

/**
 * The body of an error answer. Families of routes that word errors differently tell themselves apart by `path`,
 * the request's target without its query.
 */
export type FormatError = (
  status: number,
  message: string,
  request: { path: string; requestId: string },
) => object;

/** The body of the data contracts' errors. */
export const messageOnly: FormatError = (_status, message) => ({ message });
