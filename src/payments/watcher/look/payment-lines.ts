import { hiddenBearerIds, type LogLine } from '#lib/logger.ts';
import type { Move } from '../../settlement/session-totals.ts';

/** Logs payments that were seen, settled or failed: their ids and blocks, never data of a customer (Decision 323). */
export function logPayments(moves: readonly Move[], line: LogLine): void {
  for (const move of moves) {
    const message = messageOf(move);
    if (message !== undefined) line(factsOf(move), message);
  }
}

function messageOf({ transaction, events }: Move): string | undefined {
  if (events.some(({ type }) => type === 'payment.completed')) return 'payment settled';
  if (events.some(({ type }) => type === 'payment.failed')) return 'payment failed';
  return transaction.status === 'confirming' ? 'payment seen' : undefined;
}

function factsOf({ transaction, events }: Move) {
  const { id, organizationId, mode, chainId, sessionId, txHash, blockNumber, failureReason } = transaction;
  return {
    chainId,
    organizationId,
    mode,
    transactionId: id,
    // The whole id opens the session's page, so it is shortened as in the access log.
    sessionId: hiddenBearerIds(sessionId),
    txHash,
    block: blockNumber,
    ...(failureReason === null ? {} : { failureReason }),
    ...(events.some(({ type }) => type === 'checkout.completed') ? { completesSession: true } : {}),
  };
}
