import { reportUnmatched } from '../events/unmatched-transfers.ts';
import type { UnmatchedTransfer } from '../model/transfer.ts';
import { claimMoves, provedTransfers } from './claim-moves.ts';
import { endings } from './endings.ts';
import { manualSettlement } from './manual-settlement.ts';
import { acceptance, reassignment } from './merchant-decisions.ts';
import { outcomes } from './outcomes.ts';
import { type SettlementDeps, settlementUnit } from './settlement-unit.ts';
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
    ...reassignment(unit),
    ...provedTransfers(unit),
  };
}
