import { openTransfers } from '../sessions/open-transfers.ts';
import { earliestPayment, match } from './match.ts';
import { matchReads } from './match-reads.ts';
import { outcomes } from './outcomes.ts';
import type { SettlementUnit } from './settlement-unit.ts';
import { transferRecords } from './transfer-records.ts';

/** Transfers of a wallet that were unmatched until it signed for a session (Decision 344). */
export function provedTransfers(unit: SettlementUnit) {
  const { complete } = outcomes(unit);
  const { insertTransfer } = transferRecords(unit);

  return {
    /**
     * Makes confirmed unmatched transfers of a wallet payments of the session that it signed for, by the rules of any
     * other match. Repeating it changes nothing.
     */
    async settleTransfersOf(sessionId: string, wallet: string): Promise<void> {
      const { sessions, handle, seals } = unit;
      const signed = await unit.sessionOf(sessionId);
      const open = await openTransfers(handle, signed, { sender: wallet, since: earliestPayment(signed) });
      const reads = matchReads(handle, seals);
      const settled = new Set<string>();
      for (const transfer of open) {
        const key = `${transfer.txHash} ${transfer.logIndex}`;
        // A transfer may be listed for several organizations.
        if (settled.has(key)) continue;
        const { organizationId, mode } = transfer;
        const matched = await match(transfer, {
          reads,
          owner: { organizationId, mode },
          claimedBy: new Set(),
        });
        if (matched?.session.id !== sessionId || matched.matchedBy !== 'wallet') continue;
        settled.add(key);
        const session = (await sessions.findById(sessionId)) ?? signed;
        const evidence = { matchedBy: 'wallet', confirmations: session.requiredConfirmations } as const;
        await complete((await insertTransfer(session, transfer, evidence)).id);
        reads.forget();
        if ((await unit.sessionOf(sessionId)).status === 'completed') return;
      }
    },
  };
}
