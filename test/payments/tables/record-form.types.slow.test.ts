import { expect, test } from 'vitest';
import { compilerMessages } from '../../support/compiler-messages.ts';

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
