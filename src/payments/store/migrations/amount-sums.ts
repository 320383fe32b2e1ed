/** Last digits of an amount that are added apart from the others. Twice as many fit no integer of the database. */
const LOW_DIGITS = 15;
/** The decimal digits of an amount of a row `t`, behind the two of its length. */
const DIGITS = 'substr(t.amount, 3)';
const LOW = `cast(substr(${DIGITS}, case when length(${DIGITS}) > ${LOW_DIGITS} then length(${DIGITS}) - 14 else 1 end) as bigint)`;
const HIGH = `case when length(${DIGITS}) > ${LOW_DIGITS}
  then cast(substr(${DIGITS}, 1, length(${DIGITS}) - ${LOW_DIGITS}) as bigint) else 0 end`;
const UNIT = `1${'0'.repeat(LOW_DIGITS)}`;

/**
 * Statement that sets an amount of records to the sum of the amounts of their `rows`, a table `t` with its condition. `key`
 * is the column of these with the id of their record. Records without rows, and with amounts beyond 30 digits, stay as they
 * are.
 */
export function setSums(
  table: string,
  column: string,
  { key, rows }: { readonly key: string; readonly rows: string },
): string {
  const parts = `select ${key}, cast(sum(${HIGH}) as bigint) as high, cast(sum(${LOW}) as bigint) as low
    from ${rows} group by ${key} having max(length(t.amount)) <= 32`;
  // The parts are added with a carry.
  const sums = `select ${key}, case when high + low / ${UNIT} > 0
      then cast(high + low / ${UNIT} as text) || substr(cast(${UNIT} + low % ${UNIT} as text), 2)
      else cast(low as text) end as digits
    from (${parts}) parts`;
  return `update ${table} set ${column} = substr(cast(100 + length(sums.digits) as text), 2) || sums.digits
    from (${sums}) sums where sums.${key} = ${table}.id`;
}
