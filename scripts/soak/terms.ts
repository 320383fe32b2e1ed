export const CHAIN_ID = 31_337;
/** Seals what the run keeps, which goes with it. */
export const SECRET_KEY = 'seals-nothing-but-what-a-soak-keeps-and-drops';

/** Settings of a service process, as JSON in its first argument. */
export interface ServiceOrder {
  readonly file: string;
  readonly mailFolder: string;
  readonly port: number;
  /** When the run began, in UTC milliseconds; its clock goes `speed` times as fast from there. */
  readonly startedAt: number;
  readonly speed: number;
  readonly leaptMs: number;
  readonly rpcUrls: readonly string[];
}

/** What the service tells when it listens. */
export interface Ready {
  readonly url: string;
}

/** How far the service's clock has leapt in all, in its milliseconds. */
export interface Leap {
  readonly leaptMs: number;
}

/** Receivers at which each event has to arrive, whatever happens. */
export const HEALTHY = [
  'steady',
  'slow',
  /** Answers 200, and its body never ends. */
  'endless',
  /** Answers 500 to the first one or two attempts of some events. */
  'flaky',
  /** Ends the connection at the first one or two attempts of some events. */
  'dropping',
] as const;

/** Receivers that fail every time, until they are disabled. `silent` never answers, so that takes longer than a run. */
export const SICK = ['refusing', 'cutting', 'redirecting', 'silent'] as const;

export const RECEIVER_KINDS = [...HEALTHY, ...SICK] as const;
export type ReceiverKind = (typeof RECEIVER_KINDS)[number];
