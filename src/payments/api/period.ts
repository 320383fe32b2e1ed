/** A span of time in UTC milliseconds: `from` is in it, `to` is not; undefined is without a bound. */
export interface Period {
  readonly from: number | undefined;
  readonly to: number | undefined;
}

/** The filters `from` and `to` as a client writes them; what is beyond milliseconds is cut off. Decisions 95 and 102. */
export function periodOf({ from, to }: { from?: string; to?: string }): Period {
  return { from: momentOf(from), to: momentOf(to) };
}

function momentOf(text: string | undefined): number | undefined {
  return text === undefined ? undefined : Date.parse(text);
}
