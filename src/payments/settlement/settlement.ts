import { endings } from './endings.ts';
import { manualSettlement } from './manual-settlement.ts';
import { outcomes } from './outcomes.ts';
import { paymentHints } from './payment-hints.ts';
import { type SettlementDeps, settlementUnit } from './settlement-unit.ts';
import { sightings } from './sighting.ts';

/**
 * All that changes the state of sessions and transactions, within one transaction of the database: each change with
 * its events, and none when it is repeated. An unknown id of a session or transaction is thrown.
 */
export type Settlement = ReturnType<typeof settlement>;

export function settlement(deps: SettlementDeps) {
  const unit = settlementUnit(deps);
  return {
    ...paymentHints(unit),
    ...sightings(unit),
    ...outcomes(unit),
    ...manualSettlement(unit),
    ...endings(unit),
  };
}
