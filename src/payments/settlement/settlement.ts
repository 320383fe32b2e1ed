import { newId } from '../../lib/ids.ts';
import { depositAddressStore } from '../deposits/deposit-address-store.ts';
import { depositSums } from '../deposits/deposit-sums.ts';
import { sweepStore } from '../deposits/sweep-store.ts';
import { sweepData } from '../events/event-data.ts';
import { reportUnmatched } from '../events/unmatched-transfers.ts';
import type { DepositSweep } from '../model/recipient.ts';
import type { UnmatchedTransfer } from '../model/transfer.ts';
import { claimMoves, provedTransfers } from './claim-moves.ts';
import { endings } from './endings.ts';
import { manualSettlement } from './manual-settlement.ts';
import { acceptance, reassignment } from './merchant-decisions.ts';
import { outcomes } from './outcomes.ts';
import { type SettlementDeps, type SettlementUnit, settlementUnit } from './settlement-unit.ts';
import { transferRecords } from './transfer-records.ts';

/**
 * All state changes of sessions and transactions, within one database transaction. Each change writes its events, and
 * repeating it has no effect. Throws on an unknown id of a session or transaction.
 */
export type Settlement = ReturnType<typeof settlement>;

export function settlement(deps: SettlementDeps) {
  const unit = settlementUnit(deps);
  return {
    ...claimMoves(unit),
    ...transferRecords(unit),
    ...outcomes(unit),
    ...manualSettlement(unit),
    ...endings(unit),
    ...acceptance(unit),
    /** Records `transfer.unmatched` for transfers that were just confirmed. */
    reportUnmatched: (transfers: readonly UnmatchedTransfer[]) => reportUnmatched(deps, transfers),
    recordSweeps: (sweeps: readonly DepositSweep[]) => recordSweeps(unit, sweeps),
    ...reassignment(unit),
    ...provedTransfers(unit),
  };
}

/**
 * Records sweeps of deposit addresses of one chain, of confirmed blocks, with the events of those that were not known
 * (Decision 405). Returns the number of these.
 */
async function recordSweeps(
  { handle, sessions, events, now }: SettlementUnit,
  sweeps: readonly DepositSweep[],
): Promise<number> {
  const { added, replaced } = await sweepStore(handle).record(sweeps);
  const [first] = sweeps;
  if (first === undefined) return 0;
  const addresses = added.map(({ address }) => address);
  await depositSums(handle).recount(first.chainId, [...addresses, ...replaced]);
  if (added.length === 0) return 0;
  const deposits = await depositAddressStore(handle).findMany(addresses);
  const known = await sessions.findMany([...deposits.values()].map(({ sessionId }) => sessionId));
  const reported = added.flatMap(sweep => {
    const deposit = deposits.get(sweep.address);
    if (deposit === undefined) return [];
    const { organizationId, mode, sessionId } = deposit;
    const data = sweepData(sweep, deposit, known.get(sessionId));
    const event = { id: newId('evt'), organizationId, mode, createdAt: now, data };
    const fact = `${sweep.chainId}:${sweep.txHash}:${sweep.logIndex}:swept`;
    return [{ event: { ...event, type: 'sweep.completed' } as const, fact, order: 0 }];
  });
  await events.insert(reported);
  return added.length;
}
