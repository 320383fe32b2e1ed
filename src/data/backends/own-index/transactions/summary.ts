import type { Address } from 'viem';
import { lowerCase } from '#evm/address.ts';
import type { TransactionRow } from '#indexer/read/blocks/transaction-row.ts';
import type { TokenTransferRow } from '#indexer/read/tokens/token-transfers.ts';
import type { Answers } from '../../port/backend.ts';
import { loadParties } from '../parts/parties.ts';
import {
  type Approval,
  approvalOf,
  approvalSentence,
  callSentence,
  coinSentence,
  creationSentence,
  transferSentence,
} from '../records/summary.ts';
import { minedOrPending } from '../source/mined.ts';
import type { IndexSource } from '../source/source.ts';

/** Most transfers that become a sentence each, as many as a transaction's own record has. */
const TOLD_TRANSFERS = 10;

/** What one transaction did, in words. Decision 48. */
export function summaryAnswers(source: IndexSource): Pick<Answers, 'getTransactionSummary'> {
  const { reader } = source;
  return {
    async getTransactionSummary({ path }) {
      const hash = lowerCase(path.transaction_hash);
      const mined = await minedOrPending(source, hash);
      // Decision 31.
      const nothing = { success: false, data: { summaries: [] } };
      if (mined === undefined) return { body: nothing };
      const { row, confirmations } = mined;
      if (row.status === 'error') return { confirmations, body: nothing };
      const { items: transfers } = await reader.tokenTransfersOf({
        transactionHash: hash,
        limit: TOLD_TRANSFERS,
      });
      const approval = approvalOf(row);
      const summaries = await sentences(source, { row, transfers, approval });
      return { confirmations, body: { success: true, data: { summaries } } };
    },
  };
}

interface TransactionFacts {
  readonly row: TransactionRow;
  readonly transfers: readonly TokenTransferRow[];
  readonly approval: Approval | null;
}

/** The best first: what moved, when the transaction moved one thing; else what was called, then what moved. */
async function sentences({ reader }: IndexSource, { row, transfers, approval }: TransactionFacts) {
  const { from, to, createdContract } = row;
  const parties = await loadParties(reader, {
    addresses: [from, to, createdContract, approval?.to ?? null, ...transfers.flatMap(holdersOf)],
    tokens: [...transfers.map(({ token }) => token), ...(to === null ? [] : [to])],
  });
  const told = transfers.map(transfer => transferSentence(transfer, parties));
  if (createdContract !== null) return [creationSentence(createdContract, parties), ...told];
  if (to === null) return told;
  const approved = approval === null ? null : approvalSentence({ token: to, approval }, parties);
  if (approved !== null) return [approved, ...told];
  const isCall = parties.address(to).is_contract && row.selector !== null;
  if (!isCall) return [coinSentence({ to, value: row.value }, parties), ...told];
  const call = callSentence({ to, row }, { parties, abis: reader.abis });
  return told.length === 1 ? [...told, call] : [call, ...told];
}

function holdersOf({ from, to }: TokenTransferRow): Address[] {
  return [from, to];
}
