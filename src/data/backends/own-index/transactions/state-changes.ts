import type { Address } from 'viem';
import type { ExplorerSchemas } from '#contract/contracts/explorer.ts';
import { lowerCase } from '#evm/address.ts';
import type { BalanceChange } from '#node/node-reads.ts';
import type { Answers } from '../../port/backend.ts';
import { BackendError } from '../../port/backend-error.ts';
import type { CursorPosition } from '../../port/cursor.ts';
import { amount } from '../parts/format.ts';
import { loadParties, type Parties } from '../parts/parties.ts';
import { minedOrPending, nodeCannot } from '../source/find-transaction.ts';
import { isHeight, type Keys, notOurs } from '../source/position.ts';
import { cursorFields, type IndexSource, PAGE_SIZE } from '../source/source.ts';
import { type Balances, balancesOf, type TokenChange, tokenChanges } from './token-changes.ts';

/** Most token transfers of a block, because all of them are added up for the balances of each page. */
const MAX_MOVES = 20_000;

type Change = { coin: BalanceChange } | { token: TokenChange };

/** Balance changes of one transaction, read from the node at request time. */
export function stateChangeAnswers(source: IndexSource) {
  const { reader } = source;
  return {
    async listTransactionStateChanges({ path, query }, { position, signal }) {
      const hash = lowerCase(path.transaction_hash);
      const seen = seenBefore(position, query);
      const mined = await minedOrPending(source, hash);
      if (mined === undefined) return { body: { items: [], next_page_params: null } };
      const { row, confirmations } = mined;
      const [coins, moves, block] = await Promise.all([
        reader.node.coinChanges(hash, signal),
        reader.tokenMoves({ blockNumber: row.blockNumber, limit: MAX_MOVES }),
        reader.blockByNumberOrHash(row.blockNumber),
      ]);
      if (moves === undefined)
        throw new BackendError(
          'unsupported',
          'no_such_answer',
          `the index adds up at most ${MAX_MOVES} token transfers of a block`,
        );
      if (coins === null) throw nodeCannot('return the state changes of this transaction');
      if (block?.hash !== row.blockHash) throw movedOn();
      // Balances within the block are computed from all transfers in it.
      if (block.transactionFees === null) throw nodeCannot('return the receipts of the block');
      const all: Change[] = [
        ...inOrder(coins, row.from).map(coin => ({ coin })),
        ...tokenChanges(moves, row.index).map(token => ({ token })),
      ];
      const page = all.slice(seen, seen + PAGE_SIZE);
      const parties = await loadParties(source, {
        addresses: page.map(holderOf),
        tokens: page.flatMap(change => ('token' in change ? [change.token.token] : [])),
      });
      const items = page.map(async change =>
        'coin' in change
          ? coinChange(change.coin, { parties, miner: block.miner })
          : tokenChange(change.token, {
              parties,
              miner: block.miner,
              balances: await balancesOf(reader.node, { ...change, moves, row }, signal),
            }),
      );
      const count = seen + page.length;
      return {
        confirmations,
        body: {
          items: await Promise.all(items),
          next_page_params:
            count < all.length
              ? { items_count: count, ...cursorFields(source, { items_count: count }) }
              : null,
        },
      };
    },
  } satisfies Answers;
}

/** Reads the position: the number of items so far (Decision 4). */
function seenBefore(position: CursorPosition | undefined, query: Keys): number {
  const { items_count: count = position === undefined ? 0 : undefined } = position ?? query;
  if (!isHeight(count)) throw notOurs();
  return count;
}

/** Sorts the sender first and the others by address, so that every page has the same order. */
function inOrder(coins: readonly BalanceChange[], sender: Address): BalanceChange[] {
  const rank = ({ address }: BalanceChange) => (address === sender ? '' : address);
  return coins.toSorted((a, b) => (rank(a) < rank(b) ? -1 : 1));
}

function holderOf(change: Change): Address {
  return 'coin' in change ? change.coin.address : change.token.holder;
}

function movedOn(): BackendError {
  return new BackendError('unavailable', 'failed', 'the chain was reorganised during the request');
}

type StateChange = ExplorerSchemas['StateChange'];

/** Change of a native coin balance. */
function coinChange(
  { address, before, after }: BalanceChange,
  { parties, miner }: { parties: Parties; miner: Address },
): StateChange {
  return {
    address: parties.address(address),
    is_miner: address === miner,
    type: 'coin',
    token: null,
    token_id: null,
    balance_before: before.toString(),
    balance_after: after.toString(),
    change: (after - before).toString(),
  };
}

/** Change of a token balance. The ids of ERC-721 are in `change`. */
function tokenChange(
  { token, tokenType, holder, tokenId, difference, nfts }: TokenChange,
  { parties, miner, balances }: { parties: Parties; miner: Address; balances: Balances | null },
): StateChange {
  const moved = balances === null ? difference : balances.after - balances.before;
  return {
    address: parties.address(holder),
    is_miner: holder === miner,
    type: 'token',
    token: parties.token(token),
    token_id: amount(tokenId),
    balance_before: amount(balances?.before ?? null),
    balance_after: amount(balances?.after ?? null),
    change:
      tokenType === 'ERC-721'
        ? nfts.map(nft => ({ direction: nft.direction, total: { token_id: nft.tokenId.toString() } }))
        : moved.toString(),
  };
}
