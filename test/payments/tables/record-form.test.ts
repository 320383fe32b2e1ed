import { expect, test } from 'vitest';
import { recordForm } from '#payments/tables/record-form.ts';

interface Sale {
  readonly id: string;
  readonly amountDue: bigint;
  readonly overpaidAmount: bigint | null;
  readonly isLate: boolean;
  readonly txHash: string | null;
  readonly chosenItems: readonly string[];
}

const sales = recordForm<Sale>({
  id: 'plain',
  amountDue: 'uint256',
  overpaidAmount: 'uint256',
  isLate: 'boolean',
  txHash: 'plain',
  chosenItems: 'json',
});
const SALE: Sale = {
  id: 'a',
  amountDue: 700n,
  overpaidAmount: null,
  isLate: false,
  txHash: null,
  chosenItems: ['tea'],
};
const ROW = {
  id: 'a',
  amount_due: '03700',
  overpaid_amount: null,
  is_late: false,
  tx_hash: null,
  chosen_items: '["tea"]',
};

test('a record becomes a row and a record again, without other columns', () => {
  expect(sales.rowOf(SALE)).toEqual(ROW);
  expect(sales.recordOf(ROW)).toEqual(SALE);
  expect(sales.recordOf({ ...ROW, is_late: 0, ...{ sealed: 'x' } })).toEqual(SALE);
});
