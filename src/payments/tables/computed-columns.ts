/** Columns that statements compute, named with `as`. Row types of SQL statements pick theirs from here. */
export interface StatementColumns {
  /** `count(*)`. */
  total: number;
  /** 1 when there is an open record. */
  is_open: 0 | 1;
  /** 1 when there is a due record. */
  is_due: 0 | 1;
  /** 1 when there are refunds that are not cancelled. */
  has_refunds: 0 | 1;
  /** 1 when there are reported hashes to look up. */
  has_reports: 0 | 1;
  /** 1 when deposit addresses were issued. */
  has_deposits: 0 | 1;
  /** A sealed column of any name. */
  sealed: string;
  /** The delivery of an event to a webhook; null when there is none. */
  delivery_id: string | null;
  /** `none` without a delivery, `failed` for one that failed for good, `kept` for any other. */
  delivery_state: 'none' | 'failed' | 'kept';
}
