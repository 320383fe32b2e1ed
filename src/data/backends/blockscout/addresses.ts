import { isObject } from '#lib/json.ts';
import type { Answer, Answers, Ask } from '../port/backend.ts';
import { fieldsOf } from '../upstream-json/fields.ts';
import { withLateExtra } from './client/side-requests.ts';
import { type BlockscoutSource, mustName, orEmpty } from './client/source.ts';
import { block } from './normalise/block.ts';
import {
  addressNft,
  addressNftCollection,
  addressToken,
  coinHolder,
  coinTotals,
} from './normalise/holdings.ts';
import { internalTransaction } from './normalise/internal-transaction.ts';
import { log } from './normalise/log.ts';
import { tokenTransferRecord } from './normalise/token-transfer.ts';
import { transactionRecord } from './normalise/transaction.ts';
import { addressWithdrawal } from './normalise/withdrawal.ts';
import {
  addressNftCollectionKeys,
  addressNftKeys,
  addressTokenKeys,
  BLOCK_SETS,
  blockKeys,
  coinHolderKeys,
  INTERNAL_TRANSACTION_SETS,
  internalTransactionKeys,
  isStillTraced,
  LOG_SETS,
  logKeys,
  TOKEN_TRANSFER_SETS,
  tokenTransferKeys,
  transactionKeys,
  WITHDRAWAL_SETS,
  withdrawalKeys,
} from './paging/cursor-params.ts';
import { type List, type PageEnvelope, readList, typeFilter } from './paging/list.ts';
import { positionFrom } from './paging/position.ts';

/** Paged lists of addresses: holders of the native coin, and assets and activity of one address. */
export function addressAnswers(source: BlockscoutSource) {
  return {
    async listAddresses({ query }, ask) {
      const start = positionFrom(query, [['fetched_coin_balance', 'hash']], ['transaction_count']);
      const { body, envelope } = await readList(source, ask, {
        operation: 'listAddresses',
        path: '/addresses',
        start: start === undefined ? undefined : inUpstreamsWords(start),
        item: coinHolder,
        keys: coinHolderKeys,
      });
      return {
        body: { ...coinTotals(envelope), ...body },
      };
    },

    listAddressTransactions({ path: { address_hash: address }, query }, ask) {
      const { filter } = query;
      return listOfAddress(ask, {
        operation: 'listAddressTransactions',
        path: `/addresses/${address}/transactions`,
        start: positionFrom(query, [
          ['block_number', 'index'],
          ['inserted_at', 'hash'],
        ]),
        filters: { filter },
        passes: record => isSide(address, record, filter),
        item(value) {
          const found = transactionRecord(value);
          const { from, to, created_contract: created } = found;
          return mustName(address, [from.hash, to?.hash, created?.hash], 'from.hash', found);
        },
        keys: transactionKeys,
      });
    },

    listAddressTokenTransfers({ path: { address_hash: address }, query }, ask) {
      const { filter, type, token } = query;
      return listOfAddress(ask, {
        operation: 'listAddressTokenTransfers',
        path: `/addresses/${address}/token-transfers`,
        start: positionFrom(query, TOKEN_TRANSFER_SETS),
        filters: { filter, type: type?.join(','), token },
        passes: record =>
          isSide(address, record, filter) &&
          (type === undefined || type.some(one => one === record.token_type)) &&
          (token === undefined || record.token?.address.toLowerCase() === token.toLowerCase()),
        item(value) {
          const found = tokenTransferRecord(value);
          return mustName(address, [found.from.hash, found.to.hash], 'from.hash', found);
        },
        keys: tokenTransferKeys,
      });
    },

    listAddressTokens({ path: { address_hash: address }, query }, ask) {
      const { type } = query;
      return listOfAddress(ask, {
        operation: 'listAddressTokens',
        path: `/addresses/${address}/tokens`,
        start: positionFrom(query, [['fiat_value', 'id', 'value']], ['token_name', 'token_type']),
        ...typeFilter<ReturnType<typeof addressToken>>(type, ({ token }) => token?.type),
        item: addressToken,
        keys: addressTokenKeys,
      });
    },

    listAddressNfts({ path: { address_hash: address }, query }, ask) {
      const { type } = query;
      return listOfAddress(ask, {
        operation: 'listAddressNfts',
        path: `/addresses/${address}/nft`,
        start: positionFrom(query, [['token_contract_address_hash', 'token_id', 'token_type']]),
        ...typeFilter<ReturnType<typeof addressNft>>(type, record => record.token_type),
        item: addressNft,
        keys: addressNftKeys,
      });
    },

    listAddressNftCollections({ path: { address_hash: address }, query }, ask) {
      const { type } = query;
      return listOfAddress(ask, {
        operation: 'listAddressNftCollections',
        path: `/addresses/${address}/nft/collections`,
        start: positionFrom(query, [['token_contract_address_hash', 'token_type']]),
        ...typeFilter<ReturnType<typeof addressNftCollection>>(type, ({ token }) => token?.type),
        item: addressNftCollection,
        keys: addressNftCollectionKeys,
      });
    },

    listAddressWithdrawals({ path: { address_hash: address }, query }, ask) {
      return listOfAddress(ask, {
        operation: 'listAddressWithdrawals',
        path: `/addresses/${address}/withdrawals`,
        start: positionFrom(query, WITHDRAWAL_SETS),
        item: addressWithdrawal,
        keys: withdrawalKeys,
      });
    },

    listAddressBlocksValidated({ path: { address_hash: address }, query }, ask) {
      return listOfAddress(ask, {
        operation: 'listAddressBlocksValidated',
        path: `/addresses/${address}/blocks-validated`,
        start: positionFrom(query, BLOCK_SETS),
        item(value) {
          const found = block(value);
          return mustName(address, [found.miner.hash], 'miner.hash', found);
        },
        keys: blockKeys,
      });
    },

    listAddressLogs({ path: { address_hash: address }, query }, ask) {
      return listOfAddress(ask, {
        operation: 'listAddressLogs',
        path: `/addresses/${address}/logs`,
        start: positionFrom(query, LOG_SETS, ['transaction_index']),
        item(value) {
          const found = log(value);
          return mustName(address, [found.address.hash], 'address.hash', found);
        },
        keys: logKeys,
      });
    },

    listAddressInternalTransactions({ path: { address_hash: address }, query }, ask) {
      const { filter } = query;
      return listOfAddress(
        ask,
        {
          operation: 'listAddressInternalTransactions',
          path: `/addresses/${address}/internal-transactions`,
          start: positionFrom(query, INTERNAL_TRANSACTION_SETS),
          filters: { filter },
          passes: record => isSide(address, record, filter),
          item(value) {
            const found = internalTransaction(value);
            // Taken from upstream's body, because the contract's record omits the beneficiary of a self-destruction.
            const { type, from, to, created_contract: created } = fieldsOf(value);
            // Without a beneficiary the body does not show whose list the record belongs to.
            if (type === 'selfdestruct' && to === null) return found;
            const sides = [from, to, created].map(side => (isObject(side) ? side.hash : undefined));
            return mustName(address, sides, 'from.hash', found);
          },
          keys: internalTransactionKeys,
        },
        source.indexing.hasTraces(),
      );
    },
  } satisfies Answers;

  /** Reads a list of one address. Up to 6.9 an unknown address is a 404 instead of an empty list (Decision 38). */
  async function listOfAddress<Item, Keys>(
    ask: Ask,
    list: List<Item, Keys>,
    traces: Promise<boolean | undefined> = Promise.resolve(undefined),
  ): Promise<Answer<PageEnvelope<Item, Keys>>> {
    const reading = withLateExtra(readList(source, ask, list), traces, source.clock).then(
      ([{ body, envelope }, hasTraces]): Answer<PageEnvelope<Item, Keys>> =>
        isStillTraced(envelope) || hasTraces === false ? { body, unsettled: true } : { body },
    );
    return orEmpty(reading, { body: { items: [], next_page_params: null } });
  }
}

/**
 * True when the address is on that side of a record, or no side is asked for. A created contract counts as a receiver
 * (Decisions 44, 235).
 */
function isSide(
  address: string,
  { from, to, created_contract: created }: Sides,
  side: 'from' | 'to' | undefined,
): boolean {
  if (side === undefined) return true;
  const isMine = (party: Sides['to']) => party?.hash.toLowerCase() === address.toLowerCase();
  return side === 'from' ? isMine(from) : isMine(to) || isMine(created ?? null);
}

interface Sides {
  readonly from: { readonly hash: string };
  readonly to: { readonly hash: string } | null;
  readonly created_contract?: { readonly hash: string } | null;
}

/** Renames the document's key to the one used since version 8. */
function inUpstreamsWords({
  transaction_count: count = null,
  ...others
}: Readonly<Record<string, string | number | null>>) {
  return { ...others, transactions_count: count };
}
