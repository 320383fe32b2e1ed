import fc from 'fast-check';
import { expect, test } from 'vitest';
import { migrate } from '#db/migrate.ts';
import { type Db, openDatabase } from '#db/open.ts';
import { transaction } from '#db/transaction.ts';
import { DAY_MS } from '#lib/clock.ts';
import type { Owner } from '#payments/model/owner.ts';
import type { UnmatchedTransfer } from '#payments/model/transfer.ts';
import { refundMoves } from '#payments/refunds/refund-moves.ts';
import { refundStore } from '#payments/refunds/refund-store.ts';
import { moneyOfTransfer } from '#payments/refunds/refundable-money.ts';
import { seals as sealsOf } from '#payments/secrets/sealed.ts';
import { PAYMENTS_MIGRATIONS } from '#payments/store/migrations/payments-migrations.ts';
import { transferStore } from '#payments/store/transfer-store.ts';
import { allDue, RECORD_TIME } from '../../lab/payments-records.ts';
import { aRefund } from '../../lab/payments-refunds.ts';
import { bothDatabases } from '../../support/databases.ts';
import { insertOwner } from '../../support/given-database.ts';
import { aPayment } from '../../support/payments-api.ts';

const seals = sealsOf(['a secret of tests of refunds']);
const ARRIVED = 100n;

bothDatabases('reservations of refunds', databases => {
  /** Two processes on one database with a confirmed transfer. */
  async function given(): Promise<{
    processes: readonly [Db, Db];
    owner: Owner;
    transfer: UnmatchedTransfer;
  }> {
    const options = await databases.create('payments');
    const processes = [openDatabase(options), openDatabase(options)] as const;
    const [db] = processes;
    const owner = await insertOwner(db);
    return { processes, owner, transfer: await arrive(db, owner) };
  }

  async function arrive(db: Db, owner: Owner): Promise<UnmatchedTransfer> {
    const store = transferStore(db);
    const payment = aPayment({ amount: ARRIVED, blockTime: RECORD_TIME });
    await store.upsert(owner, { ...payment, suggestedSessionId: null }, RECORD_TIME);
    const [kept] = (await store.unconfirmed(allDue(payment.chainId))).filter(
      ({ txHash }) => txHash === payment.txHash,
    );
    if (kept === undefined) throw new Error('the transfer was not kept');
    await store.confirm([{ ...kept, suggestedSessionId: null }], RECORD_TIME);
    return kept;
  }

  /** Reserves an amount as the API does; false when it is not free. */
  const reserve = (db: Db, owner: Owner, transfer: UnmatchedTransfer, amount: bigint) =>
    transaction(db, async handle => {
      const { refundable } = await moneyOfTransfer(handle, transfer);
      if (amount > refundable) return undefined;
      const refund = aRefund(owner, { unmatchedTransferId: transfer.id, amount });
      await refundMoves({ handle, seals, now: RECORD_TIME }).create(refund);
      return refund.id;
    });

  test('two requests at the same time never reserve more than arrived', async () => {
    const { processes, owner, transfer } = await given();

    const results = await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        reserve(index % 2 === 0 ? processes[0] : processes[1], owner, transfer, 60n),
      ),
    );

    expect(results.filter(id => id !== undefined)).toHaveLength(1);
    await Promise.all(processes.map(db => db.destroy()));
  });

  test('whatever happens to refunds, those that are not cancelled never exceed what arrived', async () => {
    const { processes, owner } = await given();
    const [db] = processes;
    const step = fc.record({
      kind: fc.constantFrom('reserve', 'cancel', 'name', 'see', 'complete', 'fail', 'expire'),
      amount: fc.bigInt({ min: 1n, max: ARRIVED }),
      which: fc.nat(5),
    });

    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), async steps => {
        const transfer = await arrive(db, owner);
        const ids: string[] = [];
        for (const [index, { kind, amount, which }] of steps.entries()) {
          if (kind === 'reserve') {
            const id = await reserve(db, owner, transfer, amount);
            if (id !== undefined) ids.push(id);
          }
          const id = ids[which];
          await transaction(db, async handle => {
            const moves = refundMoves({ handle, seals, now: RECORD_TIME + index });
            const place = { ...aPayment({ blockTime: RECORD_TIME }), logIndex: index };
            if (kind === 'expire' && which === 0)
              await refundMoves({ handle, seals, now: RECORD_TIME + 30 * DAY_MS }).expireDue([]);
            if (id === undefined) return;
            if (kind === 'cancel') await moves.cancel(id, 'api_key:ak_1', null);
            if (kind === 'name') await moves.name(id, place.txHash, 'api_key:ak_1');
            if (kind === 'see') await moves.seen(id, place, 1);
            if (kind === 'complete') await moves.seen(id, place, 2);
            if (kind === 'fail') await moves.fail(id, 'reorged');
          });
          const all = await refundStore(db).list(
            owner,
            { unmatchedTransferId: transfer.id },
            { page: 1, limit: 100 },
          );
          const reserved = all.data
            .filter(({ status }) => status !== 'cancelled')
            .reduce((sum, one) => sum + one.amount, 0n);
          expect(reserved <= ARRIVED).toBe(true);
        }
      }),
      { numRuns: 25 },
    );
    await Promise.all(processes.map(one => one.destroy()));
  });

  test('an older database gets the table, and its sessions have refunded nothing', async () => {
    const old = openDatabase(await databases.create());
    const step = PAYMENTS_MIGRATIONS.findIndex(one => one.name === 'refunds');
    await migrate(old, PAYMENTS_MIGRATIONS.slice(0, step));
    const { organizationId } = await insertOwner(old);
    await old.raw(`insert into checkout_sessions (id, organization_id, mode, status, payment_status, chain_id,
      token_address, recipient_address, subtotal, amount, amount_due, is_wallet_only, amount_received, presentation,
      confirmations, required_confirmations, is_late, is_reorged, metadata, expires_at, created_at, updated_at)
      values ('cs_old', '${organizationId}', 'test', 'active', 'awaiting_payment', 31337, '0xt', '0xr', '015', '015',
        '016', false, '010', '{}', 0, 1, false, false, '{}', 1, 1, 1)`);

    await migrate(old, PAYMENTS_MIGRATIONS);

    const [row] = await old('checkout_sessions').select('amount_refunded');
    expect(row).toEqual({ amount_refunded: '010' });
    await old.destroy();
  });

  test('a transfer completes one refund of an organization, in an older database too', async () => {
    const old = openDatabase(await databases.create());
    const step = PAYMENTS_MIGRATIONS.findIndex(one => one.name === 'transfers of refunds per organization');
    await migrate(old, PAYMENTS_MIGRATIONS.slice(0, step));
    const [ours, theirs] = [await insertOwner(old), await insertOwner(old)];
    const { txHash, logIndex, blockNumber, blockHash } = aPayment({ blockTime: RECORD_TIME });
    const completed = { status: 'completed', txHash, logIndex, blockNumber, blockHash } as const;
    await refundStore(old).insert(aRefund(ours, completed));

    await migrate(old, PAYMENTS_MIGRATIONS);

    await refundStore(old).insert(aRefund(theirs, completed));
    await expect(refundStore(old).insert(aRefund(ours, completed))).rejects.toThrow(/unique/i);
    await old.destroy();
  });
});
