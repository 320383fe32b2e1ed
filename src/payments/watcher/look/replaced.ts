import type { PaymentTransaction } from '../../model/payment-transaction.ts';
import type { Transfer } from '../../model/transfer.ts';
import { type ClaimedTransaction, watchedPayments } from '../../store/watched-payments.ts';
import { type Header, type NodeView, slices } from '../node/node-view.ts';
import type { Look } from './look.ts';

/** Blocks whose state nodes usually keep. They need it to answer for the nonce at a past block. */
const BLOCKS_WITH_STATE = 100;
const SENDERS_AT_A_TIME = 500;

/**
 * Finds claimed transactions that their wallet sent again under another hash, usually with a higher fee. The
 * replacement has the same wallet, nonce, token and recipient. Returns the claims' ids by the new hash. A transaction
 * that the node does not return continues no claim.
 */
export async function repricedBy(
  { chain, view, db }: Pick<Look, 'chain' | 'view' | 'db'>,
  transfers: readonly Transfer[],
): Promise<Map<string, string>> {
  const bySender = Map.groupBy(transfers, one => one.sender);
  const claims: ClaimedTransaction[] = [];
  for (const some of slices([...bySender.keys()], SENDERS_AT_A_TIME)) {
    claims.push(...(await watchedPayments(db).replaceable(chain.id, some)));
  }
  const pairs = claims.flatMap(({ claim, payer }) =>
    (bySender.get(payer ?? '') ?? []).filter(one => isFor(one, claim)).map(one => ({ claim, one })),
  );
  const hashes = [...new Set(pairs.map(({ one }) => one.txHash))];
  const answers = await Promise.allSettled(hashes.map(hash => view.transactions([hash])));
  const found = new Map(answers.flatMap(answer => (answer.status === 'fulfilled' ? [...answer.value] : [])));
  const repriced = new Map<string, string>();
  for (const { claim, one } of pairs) {
    const transaction = found.get(one.txHash);
    const isSame =
      transaction?.from.toLowerCase() === one.sender && Number(transaction.nonce) === claim.nonce;
    if (isSame) repriced.set(one.txHash, claim.id);
  }
  return repriced;
}

/** Use of the nonce of a transaction that the node no longer has. */
export type Fate = 'unused' | 'cancelled' | 'replaced';

/**
 * Looks up the transaction that used an account's nonce. `cancelled` means that it sends nothing to the account itself,
 * which is how wallets cancel. Any other one, and one too far back to be found, counts as `replaced`.
 */
export async function fateOf(
  { sender, nonce }: { sender: string; nonce: number },
  { view, head }: { view: NodeView; head: Header },
): Promise<Fate> {
  const isUsedAt = async (block: number) => (await view.nonceOf(sender, block)) > nonce;
  if (!(await isUsedAt(head.number))) return 'unused';
  let before = Math.max(-1, head.number - BLOCKS_WITH_STATE);
  if (before >= 0 && (await isUsedAt(before))) return 'replaced';
  let at = head.number;
  while (at - before > 1) {
    const middle = Math.floor((before + at) / 2);
    if (await isUsedAt(middle)) at = middle;
    else before = middle;
  }
  const block = await view.block(at);
  const by = block?.transactions.find(
    one => one.from.toLowerCase() === sender && Number(one.nonce) === nonce,
  );
  const isNothing = by !== undefined && BigInt(by.value) === 0n && by.to?.toLowerCase() === sender;
  return isNothing ? 'cancelled' : 'replaced';
}

function isFor(transfer: Transfer, claim: PaymentTransaction): boolean {
  return (
    transfer.txHash !== claim.txHash &&
    transfer.tokenAddress === claim.tokenAddress &&
    transfer.recipient === claim.recipient
  );
}
