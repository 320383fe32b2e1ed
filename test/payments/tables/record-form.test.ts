import { expect, test } from 'vitest';
import { recordForm } from '#payments/tables/record-form.ts';
import { compilerMessages } from '../../support/compiler-messages.ts';

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

test.for([
  ["{ id: 'plain', amountDue: 'uint256' }", undefined],
  ["{ id: 'plain' }", "'amountDue' is missing"],
  ["{ id: 'plain', amountDue: 'plain' }", 'is not assignable to type \'"uint256"\''],
  ["{ id: 'plain', amountDue: 'uint256', other: 'plain' }", "'other' does not exist"],
] as const)(
  'a form %s of a record with an id and an amount compiles, or is refused: %s',
  ([forms, message]) => {
    const text = `import { recordForm } from '../../src/payments/tables/record-form.ts';
    recordForm<{ id: string; amountDue: bigint }>(${forms});`;

    const messages = compilerMessages('test/payments/program-of-this-test.ts', text);

    expect(messages.map(one => one.message)).toEqual(
      message === undefined ? [] : [expect.stringContaining(message)],
    );
  },
);
