import { SYSTEM_ADDRESS } from '../../../evm/coin-logs.ts';
import { NATIVE_COIN } from '../../model/payment-chain.ts';
import type { Refund } from '../../model/refund.ts';
import { byChainOrder, type Transfer } from '../../model/transfer.ts';
import { recipientStore } from '../../recipients/recipient-store.ts';
import { refundStore } from '../../refunds/refund-store.ts';
import { refundTurns } from '../../refunds/refund-turns.ts';
import { confirmationsOf, type Look } from '../look/look.ts';
import { isInBlock, loggedTransferOf } from '../node/token-transfers.ts';
import { changed, isTransferOf } from './refund-transfers.ts';

/** Most refunds of a chain for which transfers are looked for at a time. Organizations take turns. */
const SEARCHED = 500;
/** Most addresses from which transfers are looked for. */
const SENDERS = 2_000;
/** Blocks of one request for logs. Few transfers have both a recipient as the sender and a destination. */
const BLOCKS_PER_REQUEST = 5_000;
/** Most requests of one look. The next looks go on. */
const REQUESTS_PER_LOOK = 10;
/** Least number of blocks that each look searches again, because they may be replaced. */
const WINDOW_BLOCKS = 12;

/**
 * Looks for the transfers of refunds without a named transaction (Decision 354): from addresses of the organization,
 * with exactly the token, amount and destination. What was searched is kept in memory; a new leader searches again from
 * the block in which each refund was created. Coins are looked for in blocks whose logs have them.
 */
export function refundSearch() {
  /** The last block that was searched for each refund. */
  const searched = new Map<string, number>();
  /** Refunds of which several fitted one transfer, with the block before the first such transfer. */
  const doubted = new Map<string, number>();
  let last: { readonly head: string; readonly ids: string } | undefined;

  /** Refunds to search for. When one is settled, a transfer that fitted several may fit only one now. */
  function begin(open: readonly Refund[], { head, coinLogsFrom = 0 }: Look): boolean {
    const ids = open.map(({ id }) => id).join();
    if (last?.ids === ids && last.head === head.hash) return false;
    if (last !== undefined && last.ids !== ids) {
      for (const [id, block] of doubted) searched.set(id, block);
      doubted.clear();
    }
    last = { head: head.hash, ids };
    const known = new Set(open.map(({ id }) => id));
    for (const id of searched.keys()) if (!known.has(id)) searched.delete(id);
    for (const { id, afterBlock, tokenAddress } of open) {
      const before = afterBlock ?? head.number - BLOCKS_PER_REQUEST;
      const isOfCoins = tokenAddress === NATIVE_COIN;
      if (!searched.has(id)) searched.set(id, isOfCoins ? Math.max(before, coinLogsFrom - 1) : before);
    }
    return open.length > 0;
  }

  function settle(transfers: readonly Transfer[], open: readonly Refund[], look: Look): Promise<number> {
    return changed(look, transfers, async (transfer, { handle, refunds }) => {
      const store = refundStore(handle);
      const owner = await recipientStore(handle).ownerOf({ ...transfer, address: transfer.sender });
      if (owner === undefined || (await store.hasTransfer(owner, transfer))) return false;
      const asking = open.filter(one => isTransferOf(one, transfer));
      const waiting = await store.awaitingOf(
        owner,
        asking.map(({ id }) => id),
      );
      const [fitting, another] = waiting;
      for (const { id } of another === undefined ? [] : waiting)
        doubted.set(id, Math.min(doubted.get(id) ?? transfer.blockNumber, transfer.blockNumber) - 1);
      if (fitting === undefined || another !== undefined) return false;
      return refunds.seen(fitting.id, transfer, confirmationsOf(transfer, look));
    });
  }

  return {
    /** Returns the number of refunds that changed. */
    async search(look: Look): Promise<number> {
      const { chain, db, head, coinLogsFrom } = look;
      const all = await refundTurns(db).awaiting(chain.id, SEARCHED);
      const open = all.filter(
        ({ tokenAddress }) => tokenAddress !== NATIVE_COIN || coinLogsFrom !== undefined,
      );
      if (!begin(open, look)) return 0;
      const senders = await recipientStore(db).ownedBy(chain.id, open, SENDERS);
      if (senders.length === 0) return 0;
      const filter = {
        senders,
        tokens: distinct(open.map(({ tokenAddress }) => tokenAddress)),
        recipients: distinct(open.map(({ destination }) => destination)),
      };
      const window = Math.max(chain.confirmations, WINDOW_BLOCKS);
      let changes = 0;
      let from = Math.max(0, Math.min(...searched.values()) + 1);
      for (let count = 0; count < REQUESTS_PER_LOOK && from <= head.number; count++) {
        const to = Math.min(from + BLOCKS_PER_REQUEST - 1, head.number);
        const transfers = await transfersFrom(look, filter, { from, to });
        if (transfers === undefined) break;
        changes += await settle(transfers, open, look);
        const done = Math.min(to, head.number - window);
        for (const [id, block] of searched) if (block < done) searched.set(id, done);
        from = to + 1;
      }
      // A head that was not reached is searched again.
      if (from <= head.number) last = last && { ...last, head: '' };
      return changes;
    },
    forget() {
      searched.clear();
      doubted.clear();
      last = undefined;
    },
  };
}

interface SentFilter {
  readonly senders: readonly string[];
  readonly tokens: readonly string[];
  readonly recipients: readonly string[];
}

/** Transfers in these blocks; undefined when the node could not show all of them. */
async function transfersFrom(
  { chain, view, coinLogsFrom }: Look,
  filter: SentFilter,
  range: { readonly from: number; readonly to: number },
): Promise<Transfer[] | undefined> {
  const tokens = filter.tokens.map(token => (token === NATIVE_COIN ? SYSTEM_ADDRESS : token));
  const { logs, unread, last } = await view.logs(range, { ...filter, tokens }, new Set());
  if (unread.size > 0 || last === undefined) return undefined;
  const headers = await view.headers(logs.map(({ blockNumber }) => Number(blockNumber)));
  const transfers: Transfer[] = [];
  for (const log of logs) {
    const header = headers.get(Number(log.blockNumber));
    // A log without its block is of a block that was replaced. The next look searches again.
    if (header === undefined || !isInBlock(log, header)) return undefined;
    const transfer = loggedTransferOf(log, { chainId: chain.id, header, watched: ANY, coinLogsFrom });
    if (transfer !== undefined) transfers.push(transfer);
  }
  return transfers.sort(byChainOrder);
}

/** The node was asked for certain tokens and recipients, and each refund is compared. */
const ANY = { has: () => true };

function distinct(texts: readonly string[]): string[] {
  return [...new Set(texts)];
}
