import { afterAll, beforeAll, expect, test } from 'vitest';
import { uintColumn } from '#db/columns.ts';
import { execute } from '#db/query.ts';
import { transaction } from '#db/transaction.ts';
import { coinTokensOf } from '#deposits/coin-tokens.ts';
import { newId } from '#lib/ids.ts';
import { createLogger } from '#lib/logger.ts';
import { depositAddressStore } from '#payments/deposits/deposit-address-store.ts';
import { depositSums } from '#payments/deposits/deposit-sums.ts';
import { issueDepositAddress } from '#payments/deposits/issuing.ts';
import { NATIVE_COIN } from '#payments/model/payment-chain.ts';
import { notifiers } from '#payments/notifications/notifier.ts';
import { settlement } from '#payments/settlement/settlement.ts';
import { eachDatabase } from '../../support/databases.ts';
import {
  CHAINS,
  type Merchant,
  type PaymentsApi,
  someHash,
  startPaymentsApi,
  TEST_CHAIN,
  TOKEN,
} from '../../support/payments-api.ts';
import { type SmtpReceiver, startSmtpReceiver } from '../../support/smtp-receiver.ts';

const RULES = { maxUnswept: new Map([[TOKEN, 1_000n]]) };
const never = new AbortController().signal;

eachDatabase('the limit of unswept money', databases => {
  let receiver: SmtpReceiver;
  let api: PaymentsApi;
  beforeAll(async () => {
    receiver = await startSmtpReceiver();
    const mail = { smtp: receiver.url, from: 'pay@shop.example' };
    api = await startPaymentsApi(await databases.create('payments'), { mail });
  });
  afterAll(async () => {
    await api[Symbol.asyncDispose]();
    await receiver[Symbol.asyncDispose]();
  });

  /** Issues an address as a new session does; undefined for one with an exact amount. */
  async function issue(
    { owner }: Merchant,
    depositRules: object = RULES,
    asset = { chainId: TEST_CHAIN, tokenAddress: TOKEN },
  ): Promise<string | undefined> {
    const order = {
      ...owner,
      id: newId('cs'),
      ...asset,
      recipientAddress: someHash().slice(0, 42),
      amount: 5n,
      clientReferenceId: null,
      createdAt: api.clock.now(),
      depositRules,
    };
    const recipient = { isOwner: true, proof: 'signature' } as const;
    const issued = await transaction(api.db, handle =>
      issueDepositAddress({ handle, seals: api.seals }, order, recipient),
    );
    return issued?.address;
  }

  const hold = (address: string | undefined, received: bigint, swept = 0n) =>
    execute(api.db, 'update deposit_addresses set amount_received = ?, amount_swept = ? where address = ?', [
      uintColumn(received),
      uintColumn(swept),
      address ?? '',
    ]);

  async function mailed(): Promise<string[]> {
    const before = receiver.mails.length;
    const log = createLogger({ level: 'silent' });
    const { db, seals, clock } = api;
    const { mailer } = api.outgoing;
    const [mails] = notifiers({
      db,
      seals,
      clock,
      chains: CHAINS,
      mailer,
      messenger: undefined,
      publicUrl: api.url,
      log,
    });
    while (((await mails?.runOnce(never)) ?? 0) > 0) {}
    return receiver.mails.slice(before).map(({ parts }) => parts['text/plain'] ?? '');
  }

  test('gives new checkouts an exact amount, and a sweep permits deposit addresses again', async () => {
    const shop = await api.merchant();
    const [one, other] = [await issue(shop), await issue(shop)];
    await hold(one, 600n);
    await hold(other, 500n, 101n);

    const below = await issue(shop);
    await hold(below, 1n);
    const full = await issue(shop);
    const unlimited = await issue(shop, {});
    const others = await issue(await api.merchant());
    await hold(one, 600n, 600n);
    const again = await issue(shop);

    expect([below, unlimited, others, again]).not.toContain(undefined);
    expect(full).toBe(undefined);
    const held = { ...shop.owner, chainId: TEST_CHAIN, tokenAddress: TOKEN };
    expect(await depositSums(api.db).unsweptOf(held)).toBe(400n);
  });

  test('has room again when a stranger sweeps coins as the token that has the same balances', async () => {
    const shop = await api.merchant();
    const address = await issue(shop, {}, { chainId: 42_220, tokenAddress: NATIVE_COIN });
    const [, celo = ''] = coinTokensOf(42_220);
    const block = { blockNumber: 9, blockHash: someHash(), blockTime: api.clock.now() };
    const sweep = { ...block, chainId: 42_220, txHash: someHash(), logIndex: 0, address: `${address}` };

    await transaction(api.db, handle =>
      settlement({ handle, seals: api.seals, now: api.clock.now() }).recordSweeps([
        { ...sweep, tokenAddress: celo, amount: 7n },
        { ...sweep, tokenAddress: TOKEN, amount: 11n, logIndex: 1 },
      ]),
    );

    expect(await depositAddressStore(api.db).find(`${address}`)).toMatchObject({ amountSwept: 7n });
  });

  test('mails at half of it, once until less is there', async () => {
    const shop = await api.merchant();
    await shop.patch('/api/v1/notifications', { email_address: 'owner@shop.example' });
    const address = await issue(shop);
    const at = async (amount: bigint) => {
      await hold(address, amount);
      await issue(shop);
      return mailed();
    };

    const [below, half, more, less, again] = [
      await at(499n),
      await at(500n),
      await at(1_000n),
      await at(3n),
      await at(2_000n),
    ];

    expect([below, more, less].flat()).toEqual([]);
    expect([half.length, again.length]).toEqual([1, 1]);
    expect(half[0]).toContain('0.0005 USDC');
    expect(half[0]).toContain('0.001 USDC');
    expect(half[0]).toContain('/dashboard/deposit-addresses');
  });
});
