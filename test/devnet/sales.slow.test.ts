import { erc721Abi, parseEventLogs } from 'viem';
import { expect } from 'vitest';
import { ORDER_FULFILLED } from '../../src/evm/seaport.ts';
import { test } from '../support/served-devnet.ts';
import { framesOf } from './chain-view.ts';

test('every chain has one sale, which the marketplace logs like Seaport', async ({ views }) => {
  for (const { contract, transactions } of views) {
    const sales = transactions.flatMap(({ logs, trace }) =>
      parseEventLogs({ abi: [ORDER_FULFILLED], logs }).map(({ address, args }) => ({
        address,
        order: args,
        moved: parseEventLogs({ abi: erc721Abi, eventName: 'Transfer', logs }),
        paid: framesOf(trace)
          .slice(1)
          .filter(({ value }) => value !== undefined && BigInt(value) > 0n),
      })),
    );
    const [sale] = sales;
    const { offer = [], consideration = [], offerer, recipient } = sale?.order ?? {};

    expect(sales).toHaveLength(1);
    expect(sale?.address).toBe(contract('Marketplace').toLowerCase());
    expect(offer).toMatchObject([{ itemType: 2, token: contract('Postcards'), amount: 1n }]);
    expect(sale?.moved.map(({ args }) => args)).toEqual([
      { from: offerer, to: recipient, tokenId: offer[0]?.identifier },
    ]);
    expect(sale?.paid.map(({ to, value }) => [to, BigInt(value ?? 0)])).toEqual(
      consideration.map(item => [item.recipient.toLowerCase(), item.amount]),
    );
    expect(consideration).toHaveLength(2);
  }
});
