import type { Address } from 'viem';
import { lowerCase } from '#evm/address.ts';
import type { Answers } from '../port/backend.ts';
import { checksummed } from './parts/format.ts';
import { loadParties } from './parts/parties.ts';
import { assertWhole, type IndexSource } from './source/source.ts';

type AddressRecordAnswers = Pick<Answers, 'getAddress' | 'getAddressCounters'>;

/** Most transfers on each side, and blocks, that are counted for a request. Decision 237. */
const MOST_COUNTED = 100_000;
/** Most transactions whose gas is added up for a request: unlike counting, that reads their rows. */
const MOST_ADDED_UP = 10_000;

/** What an index knows of one address, as far as it has its whole chain. */
export function addressRecordAnswers(source: IndexSource): AddressRecordAnswers {
  const { reader } = source;
  return {
    async getAddress({ path }) {
      assertWhole(source);
      const address = lowerCase(path.address_hash);
      const [balance, creation, targets, lists] = await Promise.all([
        reader.coinBalance(address),
        reader.contract(address),
        reader.implementations([address]),
        reader.tablesWith(address),
      ]);
      const implementations = [...targets.values()];
      const parties = await loadParties(reader, {
        addresses: [address, ...implementations],
        tokens: [address],
      });
      return {
        body: {
          ...parties.address(address),
          coin_balance: balance.toString(),
          exchange_rate: null,
          block_number_balance_updated_at: null,
          creator_address_hash: creation === null ? null : checksummed(creation.creator),
          creation_transaction_hash: creation?.transactionHash ?? null,
          implementations: implementations.map(target => ({
            address_hash: checksummed(target),
            name: parties.address(target).name,
          })),
          token: parties.token(address),
          has_logs: lists.has('logs'),
          has_tokens: lists.has('holdings'),
          has_token_transfers: lists.has('token_transfers'),
          has_validated_blocks: lists.has('blocks'),
          has_beacon_chain_withdrawals: lists.has('withdrawals'),
        },
      };
    },

    async getAddressCounters({ path }) {
      assertWhole(source);
      const address = lowerCase(path.address_hash);
      const [counts, gas] = await Promise.all([
        reader.addressCounts({ address, most: MOST_COUNTED }),
        gasUsage(source, address),
      ]);
      const { transactions, tokenTransfers, validatedBlocks } = counts;
      return {
        body: {
          transactions_count: transactions.toString(),
          token_transfers_count: tokenTransfers?.toString() ?? null,
          gas_usage_count: gas?.toString() ?? null,
          validations_count: validatedBlocks?.toString() ?? null,
        },
      };
    },
  };
}

/** Gas of the transactions to a contract; of an account, and of a contract that nobody called, of those from it. */
async function gasUsage({ reader }: IndexSource, address: Address): Promise<bigint | null> {
  const [row] = await reader.addresses([address]);
  const called =
    row?.isContract === true ? await reader.gasOf({ address, side: 'to', most: MOST_ADDED_UP }) : 0n;
  return called === 0n ? reader.gasOf({ address, side: 'from', most: MOST_ADDED_UP }) : called;
}
