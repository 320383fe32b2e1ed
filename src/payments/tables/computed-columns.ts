/** Columns that statements compute, by the name each gives them with `as`. Rows of SQL text pick theirs from here. */
export interface ComputedColumns {
  /** `count(*)`. */
  total: number;
  /** Days since 1970. */
  day: number;
  /** An exact sum of a dialect, for `uintSumOf`. */
  volume: string;
  /** What a count is of. */
  name: string;
  /** `min(created_at)`, in UTC milliseconds. */
  earliest: number | null;
  /** `min(next_attempt_at)`, in UTC milliseconds. */
  due_since: number;
  /** The name of an organization, beside that of its key. */
  organization_name: string;
  /** Whether there is something that is open. */
  is_open: 0 | 1;
  /** A sealed column, whatever its name. */
  sealed: string;
  /** What wakes the workers of rows that are due. */
  topic: 'events' | 'deliveries' | 'notices' | 'replays' | 'sessions';
  /** The delivery of an event to a webhook; null when there is none. */
  delivery_id: string | null;
  /** Whether there is such a delivery, and whether it failed for good. */
  delivery_state: 'none' | 'failed' | 'kept';
}
