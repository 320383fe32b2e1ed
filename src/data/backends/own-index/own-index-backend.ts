import type { Address } from 'viem';
import { lowerCase } from '#evm/address.ts';
import type { ChainIndex } from '#indexer/index-service.ts';
import type { QueryEngine } from '#indexer/query/query.ts';
import type { Exchange } from '#indexer/read/tokens/markets.ts';
import type { Clock } from '#lib/clock.ts';
import type { Gateways } from '#node/names/gateways.ts';
import type { Backend, BackendStatus } from '../port/backend.ts';
import type { InsightsAnswers } from '../port/insights-backend.ts';
import { addressListAnswers } from './address-lists.ts';
import { addressAnswers, addressRecordAnswers } from './address-records.ts';
import { addressTokenAnswers } from './address-tokens.ts';
import { blockAnswers } from './blocks.ts';
import { coinHistoryAnswers } from './coin-history.ts';
import { balanceAnswers } from './insights/balances.ts';
import { nftAnswers } from './insights/nft-transfers.ts';
import { nftRecordAnswers } from './insights/nfts.ts';
import { priceAnswers } from './insights/prices.ts';
import { rateBook } from './insights/rates.ts';
import { recordAnswers } from './insights/records.ts';
import { resolveAnswers } from './insights/resolve-input.ts';
import { liveIndex } from './live.ts';
import { searchAnswers } from './search.ts';
import { abiAnswers, smartContractAnswers } from './smart-contracts.ts';
import type { MetadataDocuments } from './source/metadata-documents.ts';
import { nameBook } from './source/names.ts';
import type { IndexSource } from './source/source.ts';
import { statisticsAnswers } from './statistics.ts';
import { tokenRecordAnswers } from './token-records.ts';
import { tokenAnswers } from './tokens.ts';
import { internalTransactionAnswers } from './transactions/internal-transactions.ts';
import { stateChangeAnswers } from './transactions/state-changes.ts';
import { summaryAnswers } from './transactions/summary.ts';
import { tokenTransferAnswers } from './transactions/token-transfers.ts';
import {
  rawTraceAnswers,
  transactionListAnswers,
  transactionProofAnswers,
} from './transactions/transaction-lists.ts';
import { transactionAnswers } from './transactions/transactions.ts';
import { verifiedContractAnswers } from './verified-contracts.ts';
import { withdrawalAnswers } from './withdrawals.ts';

/** Maximum lag, in blocks, of a ready index. One further behind still answers but is not ready. */
const READY_LAG = 10;

/** Members of an index that this back end uses. */
type ServedIndex = Pick<
  ChainIndex,
  | 'reader'
  | 'queries'
  | 'status'
  | 'proofs'
  | 'revision'
  | 'epoch'
  | 'identity'
  | 'isShared'
  | 'whenComplete'
  | 'nextChange'
  | 'untilFound'
>;

/** Back end of a chain, served by the chain's own index. */
export function indexBackend(options: {
  name: string;
  chainId: number;
  index: ServedIndex;
  prices?: Exchange | undefined;
  names?:
    | { readonly registry: Address; readonly gateways: Gateways | undefined; readonly clock: Clock }
    | undefined;
  documents?: MetadataDocuments | undefined;
}): Backend {
  const { name, chainId, index, prices, names, documents } = options;
  let caughtUp = index.status().complete;
  // Set by an event and not read from the status, which is incomplete again while a block is being read.
  void index.whenComplete().then(() => {
    caughtUp = true;
  });
  const priced = { reader: index.reader, exchange: prices && inLowerCase(prices) };
  const source: IndexSource = {
    name,
    chainId,
    ...priced,
    rates: rateBook(priced, {
      revision: index.revision,
      isWhole: () => caughtUp && index.status().firstBlock === 0,
    }),
    names: names && nameBook({ reader: index.reader, revision: index.revision, ...names }),
    documents,
    hasCaughtUp: () => caughtUp,
    firstBlock: () => index.status().firstBlock,
    status: index.status,
    untilFound: index.untilFound,
  };
  // Same answers, treating the index's first block as the chain's first.
  const partial = insightsAnswers({ ...source, firstBlock: () => 0 }, index.queries);
  return {
    kind: 'index',
    name,
    chainId,
    answers: {
      ...transactionAnswers(source),
      ...transactionListAnswers(source),
      ...tokenTransferAnswers(source),
      ...blockAnswers(source),
      ...internalTransactionAnswers(source),
      ...rawTraceAnswers(source),
      ...transactionProofAnswers(source),
      ...stateChangeAnswers(source),
      ...summaryAnswers(source),
      ...smartContractAnswers(source),
      ...searchAnswers(source),
      ...statisticsAnswers(source),
      ...addressAnswers(source),
      ...addressRecordAnswers(source),
      ...addressListAnswers(source),
      ...coinHistoryAnswers(source),
      ...addressTokenAnswers(source),
      ...tokenRecordAnswers(source),
      ...tokenAnswers(source),
      ...verifiedContractAnswers(source),
      ...withdrawalAnswers(source),
    },
    insights: insightsAnswers(source, index.queries),
    partial() {
      const firstBlock = source.firstBlock();
      return firstBlock === 0 ? undefined : { firstBlock, insights: partial };
    },
    dataId: index.identity,
    validity: () => ({ revision: index.revision(), epoch: `${index.identity}-${index.epoch()}` }),
    isShared: index.isShared,
    live: liveIndex(index),
    probe: async () => void (await index.reader.head()),
    status() {
      const { lag } = index.status();
      const ready = source.hasCaughtUp() && lag !== null && lag <= READY_LAG;
      return { ...backendStatusOf(index), ready };
    },
  };
}

/** Status of an index as a back end, which is ready while the index is complete. */
export function backendStatusOf(index: Pick<ChainIndex, 'status' | 'proofs'>): BackendStatus {
  const { complete, head, lag, lastLag, lagSeconds, stalled, unreadBlocks, unreadState } = index.status();
  return {
    ready: complete,
    head: head ?? undefined,
    lag: lag ?? undefined,
    lastLag: lastLag ?? undefined,
    lagSeconds: lagSeconds ?? undefined,
    stalled,
    incompleteBlocks: unreadBlocks,
    unreadState,
    proofs: index.proofs.status(),
  };
}

function insightsAnswers(source: IndexSource, queries: QueryEngine): InsightsAnswers {
  const records = recordAnswers(source, queries);
  return {
    ...records,
    ...resolveAnswers(source, records),
    ...priceAnswers(source),
    ...balanceAnswers(source),
    ...nftAnswers(source),
    ...nftRecordAnswers(source),
    ...abiAnswers(source),
  };
}

/** The index stores addresses in lower case, and these are compared with them. */
function inLowerCase({ factory, usdToken, native }: Exchange): Exchange {
  return {
    factory: lowerCase(factory),
    usdToken: lowerCase(usdToken),
    native: native === undefined ? undefined : { ...native, wrapped: lowerCase(native.wrapped) },
  };
}
