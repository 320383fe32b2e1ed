import { trigger } from './postgres-001-counters.ts';

/** Decimal digits per part of a sum. 64 bits hold the sum of 9 × 10^8 such parts. */
const PART_DIGITS = 10;
/** Parts of 10 digits for 78 digits, the longest 256-bit integer, lowest first. */
const PARTS = [0, 1, 2, 3, 4, 5, 6, 7] as const;

/** One part of an amount. A part beyond the text's length is '', which casts to 0. */
const partOf = (amount: string, part: number) =>
  `cast(substr(substr(${amount}, 3), -${PART_DIGITS * (part + 1)}, ${PART_DIGITS}) as integer)`;

const FEES = PARTS.map(part => `fees_${part}`);

/**
 * Running number and fees of transactions per block. The totals between two blocks are a difference.
 * Blocks are written after their parent and removed before it, so the rows below a block never change.
 * SQLite has no 256-bit sum: fees are summed in parts of ten digits.
 */
export const BLOCK_SUMS = [
  `create table fee_sums (
    number integer primary key,
    transactions integer not null,
    ${FEES.map(part => `${part} integer not null`).join(', ')}
  ) strict`,
  `insert into fee_sums select number, sum(transaction_count) over so_far,
      ${PARTS.map(part => `sum(${partOf('transaction_fees', part)}) over so_far`).join(', ')}
    from blocks window so_far as (order by number)`,
  `create trigger fees_gained after insert on blocks begin
    insert into fee_sums select new.number, coalesce(parent.transactions, 0) + new.transaction_count,
        ${PARTS.map(part => `coalesce(parent.fees_${part}, 0) + ${partOf('new.transaction_fees', part)}`).join(', ')}
      from (select 1) left join fee_sums parent on parent.number = new.number - 1;
  end`,
  `create trigger fees_lost after delete on blocks begin
    delete from fee_sums where number = old.number;
  end`,
  `create view block_sums (number, transactions, fee_parts) as
    select number, transactions, json_array(${FEES.toReversed()
      .map(part => `cast(${part} as text)`)
      .join(', ')})
    from fee_sums`,
] as const;

/** Running sums on PostgreSQL, where a sum is one number. */
export const POSTGRES_BLOCK_SUMS = [
  'create table fee_sums (number bigint primary key, transactions bigint not null, fees numeric not null)',
  `insert into fee_sums select number, sum(transaction_count) over so_far, sum(transaction_fees) over so_far
    from blocks window so_far as (order by number)`,
  ...trigger(
    'fees_gained',
    'insert on blocks',
    `insert into fee_sums
      select b.number, coalesce(parent.transactions, 0) + sum(b.transaction_count) over so_far,
        coalesce(parent.fees, 0) + sum(b.transaction_fees) over so_far
      from added b left join fee_sums parent on parent.number = (select min(number) - 1 from added)
      window so_far as (order by b.number);`,
  ),
  ...trigger(
    'fees_lost',
    'delete on blocks',
    'delete from fee_sums s using removed r where s.number = r.number;',
  ),
  `create view block_sums (number, transactions, fee_parts) as
    select number, transactions, '["' || fees || '"]' from fee_sums`,
];
