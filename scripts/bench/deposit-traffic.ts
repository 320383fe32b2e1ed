import { numberToHex } from 'viem';
import type { Db } from '#db/open.ts';
import { transaction } from '#db/transaction.ts';
import { depositAddressStore } from '#payments/deposits/deposit-address-store.ts';
import { NATIVE_COIN } from '#payments/model/payment-chain.ts';
import type { CheckoutSession } from '#payments/model/session.ts';
import { aSession } from '#test/lab/payments-sessions.ts';
import type { Figure } from './figure.ts';
import { CHAIN_ID } from './large-blocks/large-block.ts';
import type { Shop } from './payments/shop.ts';
import { trafficChain, trafficOf } from './proof-traffic.ts';
import { seals } from './watcher/looks.ts';
import { insertSessions, watchRecipients } from './watcher/open-sessions.ts';

const COUNTS = [10, 1_000, 10_000] as const;
const TOKEN = `0x70${'0'.repeat(38)}`;
const DAY_MS = 24 * 3_600_000;

/** Ways in which money at open deposit addresses is found. */
const WAYS = [
  { name: 'in a token', token: TOKEN, hasMulticall: true },
  { name: 'in coins, balances in groups', token: NATIVE_COIN, hasMulticall: true },
  { name: 'in coins, balances one by one', token: NATIVE_COIN, hasMulticall: false },
] as const;

/**
 * Calls and bytes per hour from the nodes of one chain for open deposit addresses, on a chain with blocks as large as those
 * of mainnet every twelve seconds, which has neither logs of coins nor traces.
 */
export async function benchDepositTraffic(): Promise<Figure[]> {
  const chain = trafficChain();
  const figures: Figure[] = [];
  for (const { name, token, hasMulticall } of WAYS)
    for (const count of COUNTS)
      figures.push(
        ...(await trafficOf(chain, {
          name: `${count.toLocaleString('en')} open deposit addresses, ${name}`,
          changes: { prove: 'findings', traceCoins: false },
          hosts: ['127.0.0.1'],
          hasMulticall,
          isPatient: true,
          open: (db, shop, now) => openDeposits(db, shop, { count, token, now }),
        })),
      );
  return figures;
}

/** Opens sessions with deposit addresses that nothing pays. */
async function openDeposits(
  db: Db,
  { owner }: Shop,
  { count, token, now }: { count: number; token: string; now: number },
): Promise<void> {
  const { tokenDecimals: _, ...session } = aSession(owner);
  const sessions = Array.from({ length: count }, (__, index): CheckoutSession => {
    const address = `0xde${index.toString(16).padStart(38, '0')}`;
    return {
      ...session,
      id: `cs_deposit${index}`,
      chainId: CHAIN_ID,
      tokenAddress: token,
      amountDue: session.amount,
      isWalletOnly: true,
      depositAddress: address,
      signedAddress: null,
      payerAddress: null,
      createdAt: now,
      updatedAt: now,
      expiresAt: now + DAY_MS,
    };
  });
  const paid = sessions.map(one => ({ ...one, recipientAddress: `${one.depositAddress}` }));
  await transaction(db, handle => insertSessions(handle, seals, sessions));
  await transaction(db, handle => watchRecipients(handle, paid, now));
  await transaction(db, async handle => {
    for (const [number, one] of sessions.entries())
      await depositAddressStore(handle).insert({
        ...one,
        address: `${one.depositAddress}`,
        factoryVersion: 1,
        epoch: numberToHex(0, { size: 32 }),
        number,
        salt: numberToHex(number, { size: 32 }),
        sessionId: one.id,
        amountReceived: 0n,
        amountSwept: 0n,
      });
  });
}
