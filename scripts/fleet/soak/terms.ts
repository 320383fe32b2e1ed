/** Secret key of the run. It protects nothing, because the data of the run is deleted. */
export const SECRET_KEY = 'seals-nothing-but-what-a-soak-keeps-and-drops';

/** Settings of a service process, as JSON in its first argument. */
export interface ServiceOrder {
  readonly file: string;
  readonly mailFolder: string;
  readonly port: number;
  /** Start of the run in UTC milliseconds. From there its clock runs at `speed` times real time. */
  readonly startedAt: number;
  readonly speed: number;
  readonly leaptMs: number;
  readonly rpcUrls: readonly string[];
}

/** Message from the service once it listens. */
export interface Ready {
  readonly url: string;
}

/** Message that sets the sum of all leaps of the service's clock, in milliseconds of that clock. */
export interface Leap {
  readonly leaptMs: number;
}
