import { type Clock, DAY_MS } from '#lib/clock.ts';
import type { PaymentChain } from '../../model/payment-chain.ts';
import type { PaymentTransaction } from '../../model/payment-transaction.ts';
import { isOfContract } from '../../model/transfer.ts';
import { watchedPayments } from '../../store/watched-payments.ts';
import { type LaneResult, NOTHING_DONE } from '../look/lanes.ts';
import { changeInParts, type Look } from '../look/look.ts';
import type { BlockEvidences } from './block-evidence.ts';
import { contains } from './proven-transfers.ts';

/** Least time between two looks for such payments, and most of them that one reads. */
const EVERY_MS = 10_000;
const PAYMENTS = 20;

/** Payments of one block that are judged alike. */
interface Judged {
  readonly rows: readonly PaymentTransaction[];
  /** Undefined for those that their block does not contain. */
  readonly proven: boolean | undefined;
}

/**
 * Proofs of payments that were completed without one, because the merchant assigned them or their wallet signed later. For
 * a day their blocks are asked for. A payment that its block does not contain fails, as after a reorganisation.
 */
export function laterProofs({
  chain,
  evidence,
  clock,
}: {
  readonly chain: Pick<PaymentChain, 'id' | 'prove'>;
  readonly evidence: BlockEvidences;
  readonly clock: Clock;
}) {
  let lookedAt = Number.NEGATIVE_INFINITY;
  /** The last payment of the last look. The next one goes on behind it, so that those without an answer take turns. */
  let after: PaymentTransaction | undefined;

  async function judge(look: Look, rows: readonly PaymentTransaction[]): Promise<readonly Judged[]> {
    const [{ blockNumber: number, blockHash: hash } = { blockNumber: null, blockHash: null }] = rows;
    if (number === null || hash === null) return [];
    const provable = rows.filter(one => !isOfContract(one.logIndex));
    const unprovable = { rows: rows.filter(one => isOfContract(one.logIndex)), proven: false };
    if (provable.length === 0) return [unprovable];
    const transactions = new Set(provable.flatMap(({ txHash }) => txHash ?? []));
    const found = await evidence.of(look.view, { number, hash, transactions });
    // Others may be proven by a later look.
    if (found.kind === 'unproven' && found.cause !== 'node')
      return [unprovable, { rows: provable, proven: false }];
    if (found.kind !== 'proven') return [unprovable];
    const isIn = (one: PaymentTransaction) => contains(found.transactions.get(one.txHash ?? ''), one);
    return [
      unprovable,
      { rows: provable.filter(isIn), proven: true },
      { rows: provable.filter(one => !isIn(one)), proven: undefined },
    ];
  }

  return {
    async run(look: Look): Promise<LaneResult> {
      if (chain.prove === 'off' || Math.abs(clock.now() - lookedAt) < EVERY_MS) return NOTHING_DONE;
      lookedAt = clock.now();
      const since = clock.now() - DAY_MS;
      const rows = await watchedPayments(look.db).unproven(chain.id, { since, after, limit: PAYMENTS });
      after = rows.length < PAYMENTS ? undefined : rows.at(-1);
      let lost = 0;
      for (const ofBlock of Map.groupBy(rows, one => one.blockHash).values()) {
        for (const { rows: judged, proven } of await judge(look, ofBlock)) {
          await changeInParts(look, { name: 'confirm', rows: judged }, async (part, { settle }) => {
            for (const { id, blockHash } of part)
              await (proven === undefined
                ? settle.reorg(id, blockHash)
                : settle.prove(id, blockHash, proven));
          });
          if (proven === undefined) lost += judged.length;
        }
      }
      return { changes: lost, isMoved: lost > 0 };
    },
  };
}
