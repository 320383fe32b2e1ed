/** Receivers at which each event must arrive. */
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

/**
 * Receivers that always fail, until they are disabled. For `silent`, which never answers, that takes longer than a run.
 */
const SICK = ['refusing', 'cutting', 'redirecting', 'silent'] as const;

export const RECEIVER_KINDS = [...HEALTHY, ...SICK] as const;
export type ReceiverKind = (typeof RECEIVER_KINDS)[number];
