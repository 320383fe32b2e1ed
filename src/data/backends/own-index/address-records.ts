import { formatEther } from 'viem';
import { lowerCase } from '#evm/address.ts';
import type { CoinHolderPosition } from '#indexer/read/addresses.ts';
import type { Answers } from '../port/backend.ts';
import type { CursorPosition } from '../port/cursor.ts';
import { checksummed } from './parts/format.ts';
import { loadParties } from './parts/parties.ts';
import { cursorAddress, type Keys, uintKey, wholeKeys } from './source/position.ts';
import { assertWhole, type IndexSource, nextPage, PAGE_SIZE } from './source/source.ts';

/** Record and counters of one address. Needs an index of the whole chain. */
export function addressRecordAnswers(source: IndexSource) {
  const { reader, rates } = source;
  return {
    async getAddress({ path }) {
      assertWhole(source);
      const address = lowerCase(path.address_hash);
      const [balance, creation, lists, parties, coinRate] = await Promise.all([
        reader.coinBalance(address),
        reader.contract(address),
        reader.filledLists(address),
        loadParties(source, { addresses: [address], tokens: [address] }),
        rates.ofCoin(),
      ]);
      const { implementation_name: name } = parties.address(address);
      const implementation = parties.implementation(address);
      return {
        body: {
          ...parties.address(address),
          coin_balance: balance.toString(),
          exchange_rate: coinRate,
          block_number_balance_updated_at: null,
          creator_address_hash: creation === null ? null : checksummed(creation.creator),
          creation_transaction_hash: creation?.transactionHash ?? null,
          implementations:
            implementation === null ? [] : [{ address_hash: checksummed(implementation), name }],
          token: parties.token(address),
          has_logs: lists.has('logs'),
          has_tokens: lists.has('holdings'),
          has_token_transfers: lists.has('token_transfers'),
          has_validated_blocks: lists.has('validated_blocks'),
          has_beacon_chain_withdrawals: lists.has('withdrawals'),
        },
      };
    },

    async getAddressCounters({ path }) {
      assertWhole(source);
      const address = lowerCase(path.address_hash);
      const [counts, [row]] = await Promise.all([reader.addressCounts(address), reader.addresses([address])]);
      // A contract's gas usage is the gas of calls to it (Decision 237).
      const isCalled = row?.isContract === true && counts.gasReceived > 0;
      return {
        body: {
          transactions_count: counts.transactions.toString(),
          token_transfers_count: counts.tokenTransfers.toString(),
          gas_usage_count: (isCalled ? counts.gasReceived : counts.gasSent).toString(),
          validations_count: counts.validatedBlocks.toString(),
        },
      };
    },
  } satisfies Answers;
}

/** Holders of the native coin, limited to addresses that the index has seen (Decision 40). */
export function addressAnswers(source: IndexSource) {
  const { reader } = source;
  return {
    async listAddresses({ query }, { position }) {
      assertWhole(source);
      const before = holderBefore(position, query);
      const [page, { coinSupply }, coinRate] = await Promise.all([
        reader.coinHolders({ limit: PAGE_SIZE, before }),
        reader.totals(),
        source.rates.ofCoin(),
      ]);
      const parties = await loadParties(source, { addresses: page.items.map(({ address }) => address) });
      return {
        body: {
          exchange_rate: coinRate,
          total_supply: formatEther(coinSupply),
          items: page.items.map(row => ({
            ...parties.address(row.address),
            coin_balance: row.balance.toString(),
            transaction_count: row.transactionCount.toString(),
          })),
          next_page_params: nextPage(source, page, ({ balance, address, transactionCount }) => ({
            fetched_coin_balance: balance.toString(),
            hash: checksummed(address),
            transaction_count: transactionCount,
          })),
        },
      };
    },
  } satisfies Answers;
}

/** Reads a position, made of balance and address. The transaction count is part of the keys but is not used. */
function holderBefore(position: CursorPosition | undefined, query: Keys): CoinHolderPosition | undefined {
  const keys = wholeKeys({ position, query }, ['fetched_coin_balance', 'hash', 'transaction_count']);
  if (keys === undefined) return undefined;
  return { balance: uintKey(keys.fetched_coin_balance), address: cursorAddress(keys.hash) };
}
