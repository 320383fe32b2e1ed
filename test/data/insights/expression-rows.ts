import fc from 'fast-check';
import type { TransactionRow } from '../../indexer/query/grouped-rows.ts';

const MAX_UINT256 = 2n ** 256n - 1n;

/** A few different values, so that groups have several rows, plus the ends of every range. */
const amount = fc.oneof(
  fc.constantFrom(0n, 1n, 7n, 10n ** 18n, 2n ** 53n, 2n ** 63n - 1n, 2n ** 64n, MAX_UINT256),
  fc.bigInt({ min: 0n, max: MAX_UINT256 }),
  fc.bigInt({ min: 0n, max: 10n ** 20n }),
);
const gas = fc.bigInt({ min: 0n, max: 30_000_000n });
const address = fc.constantFrom(...['01', '0a', 'ff'].map(end => `0x${end.padStart(40, '0')}`));
const DAY = 86_400n;

const bytes = fc
  .uint8Array({ minLength: 0, maxLength: 40 })
  .map(array => `0x${Buffer.from(array).toString('hex')}`);

const transactionRow: fc.Arbitrary<TransactionRow> = fc.record({
  // Times around two ends of a month, and the epoch, which is in the middle of a week.
  block_timestamp: fc
    .tuple(fc.constantFrom(0n, 1_706_745_600n, 1_709_251_200n), fc.bigInt({ min: 0n, max: 9n * DAY }))
    .map(([start, seconds]) => start + seconds),
  from_address: address,
  to_address: fc.option(address),
  value: amount,
  gas: amount,
  gas_price: amount,
  max_fee_per_gas: fc.option(amount),
  gas_used: gas,
  transaction_type: fc.constantFrom(0n, 2n),
  status: fc.option(fc.constantFrom(0n, 1n)),
  data: bytes,
});

/** Rows of one chain, the same in every run. */
export function rowsOfChain(seed: number, count: number): TransactionRow[] {
  return fc.sample(transactionRow, { numRuns: count, seed });
}
