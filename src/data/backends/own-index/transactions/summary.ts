import { type Address, decodeFunctionData, formatEther, formatUnits, maxUint256, parseAbi } from 'viem';
import type { ExplorerSchemas } from '#contract/contracts/explorer.ts';
import type { Abis } from '#evm/abi/abi.ts';
import { lowerCase } from '#evm/address.ts';
import type { TransactionRow } from '#indexer/read/blocks/transactions.ts';
import type { TokenTransferRow } from '#indexer/read/tokens/token-transfers.ts';
import type { Answers } from '../../port/backend.ts';
import { methodOf } from '../parts/decoded.ts';
import { loadParties, type Parties } from '../parts/parties.ts';
import { assertReceipt, minedOrPending } from '../source/find-transaction.ts';
import type { IndexSource } from '../source/source.ts';

/** Maximum number of transfers with a sentence each, as many as in a transaction's record. */
const SUMMARIZED_TRANSFERS = 10;

/** Summary of one transaction in words (Decision 48). */
export function summaryAnswers(source: IndexSource) {
  const { reader } = source;
  return {
    async getTransactionSummary({ path }) {
      const hash = lowerCase(path.transaction_hash);
      const mined = await minedOrPending(source, hash);
      // Pending and failed transactions have no summary (Decision 31).
      const nothing = { success: false, data: { summaries: [] } };
      if (mined === undefined) return { body: nothing };
      assertReceipt(mined);
      const { row, confirmations } = mined;
      if (row.status === 'error') return { confirmations, body: nothing };
      const { items: transfers } = await reader.tokenTransfersOf({
        transactionHash: hash,
        limit: SUMMARIZED_TRANSFERS,
      });
      const approval = approvalOf(row);
      const summaries = await sentences(source, { row, transfers, approval });
      return { confirmations, body: { success: true, data: { summaries } } };
    },
  } satisfies Answers;
}

interface TransactionFacts {
  readonly row: TransactionRow;
  readonly transfers: readonly TokenTransferRow[];
  readonly approval: Approval | null;
}

/** Sentences, the most informative first: the transfer when there is only one, else the call and then the transfers. */
async function sentences(source: IndexSource, { row, transfers, approval }: TransactionFacts) {
  const { from, to, createdContract } = row;
  const parties = await loadParties(source, {
    addresses: [from, to, createdContract, approval?.to ?? null, ...transfers.flatMap(holdersOf)],
    tokens: [...transfers.map(({ token }) => token), ...(to === null ? [] : [to])],
  });
  const transferTexts = transfers.map(transfer => transferSentence(transfer, parties));
  if (createdContract !== null) return [creationSentence(createdContract, parties), ...transferTexts];
  if (to === null) return transferTexts;
  const approved = approval === null ? null : approvalSentence({ token: to, approval }, parties);
  if (approved !== null) return [approved, ...transferTexts];
  const isCall = parties.address(to).is_contract && row.selector !== null;
  if (!isCall) return [coinSentence({ to, value: row.value }, parties), ...transferTexts];
  const call = callSentence({ to, row }, { parties, abis: source.reader.abis });
  return transferTexts.length === 1 ? [...transferTexts, call] : [call, ...transferTexts];
}

function holdersOf({ from, to }: TokenTransferRow): Address[] {
  return [from, to];
}

type Summary = ExplorerSchemas['Summary'];
type Variable = ExplorerSchemas['SummaryVariable'];

/** Builds a sentence from its template. `action_type` is the verb at its start. */
function sentence(action: string, template: string, variables: Record<string, Variable>): Summary {
  return {
    summary_template: `{action_type} ${template}`,
    summary_template_variables: { action_type: text(action), ...variables },
  };
}

function text(value: string): Variable {
  return { type: 'string', value };
}

/** Amount of a token in whole units, or in its smallest unit when the decimals are unknown. */
function tokenAmount(amount: bigint, decimals: string | null): Variable {
  return { type: 'currency', value: formatUnits(amount, Number(decimals ?? 0)) };
}

function addressVariable(parties: Parties, address: Address): Variable {
  return { type: 'address', value: parties.address(address) };
}

/** `{native}` stands for the chain's coin and has no variable. */
function coinSentence({ to, value }: { to: Address; value: bigint }, parties: Parties): Summary {
  return sentence('Transfer', '{amount} {native} to {to_address}', {
    amount: coinAmount(value),
    to_address: addressVariable(parties, to),
  });
}

function creationSentence(created: Address, parties: Parties): Summary {
  return sentence('Create', 'contract {contract_address}', {
    contract_address: addressVariable(parties, created),
  });
}

function callSentence(
  { to, row }: { to: Address; row: Pick<TransactionRow, 'selector' | 'value'> },
  { parties, abis }: { parties: Parties; abis: Abis },
): Summary {
  const call = {
    method: { type: 'method', value: methodOf(abis, row.selector) },
    contract_address: addressVariable(parties, to),
  };
  return row.value === 0n
    ? sentence('Call', '{method} on {contract_address}', call)
    : sentence('Call', '{method} on {contract_address} with {amount} {native}', {
        ...call,
        amount: coinAmount(row.value),
      });
}

/**
 * Sentence for an approval. Null when the called contract is no known token, because the value's meaning is unknown.
 */
function approvalSentence(
  { token: address, approval }: { token: Address; approval: Approval },
  parties: Parties,
): Summary | null {
  const record = parties.token(address);
  if (record === null) return null;
  const token = { type: 'token', value: record };
  const to_address = addressVariable(parties, approval.to);
  const { value } = approval;
  if (value === null) {
    const action = approval.isGiven ? 'Approve' : 'Revoke';
    return sentence(action, 'all {token} for {to_address}', { token, to_address });
  }
  if (record.type === 'ERC-721') {
    const token_id = text(value.toString());
    return sentence('Approve', '{token} {token_id} for {to_address}', { token, token_id, to_address });
  }
  const amount = value === maxUint256 ? text('unlimited') : tokenAmount(value, record.decimals);
  return sentence('Approve', '{amount} {token} for {to_address}', { amount, token, to_address });
}

function coinAmount(value: bigint): Variable {
  return { type: 'currency', value: formatEther(value) };
}

const VERBS = { token_minting: 'Mint', token_burning: 'Burn', token_transfer: 'Transfer' } as const;

/** Sentence for a token transfer, minting or burning. A burn has no receiver, so it names the owner. */
function transferSentence(row: TokenTransferRow, parties: Parties): Summary {
  const isBurn = row.type === 'token_burning';
  const record = parties.token(row.token);
  const whom = isBurn
    ? { from_address: addressVariable(parties, row.from) }
    : { to_address: addressVariable(parties, row.to) };
  const token =
    record === null ? addressVariable(parties, row.token) : ({ type: 'token', value: record } as const);
  const amount = row.amount === null ? {} : { amount: tokenAmount(row.amount, record?.decimals ?? null) };
  const id = row.tokenId === null ? {} : { token_id: text(row.tokenId.toString()) };
  const placeholders = [...Object.keys(amount), 'token', ...Object.keys(id)].map(name => `{${name}}`);
  return sentence(
    VERBS[row.type],
    `${placeholders.join(' ')} ${isBurn ? 'from {from_address}' : 'to {to_address}'}`,
    { ...amount, token, ...id, ...whom },
  );
}

/** Permission that a call to a token gives or revokes. */
interface Approval {
  /** Spender or operator. */
  readonly to: Address;
  /** Amount for ERC-20, id for ERC-721; null for an approval of all tokens. */
  readonly value: bigint | null;
  /** False when an approval of all tokens is revoked. */
  readonly isGiven: boolean;
}

const ABI = parseAbi([
  'function approve(address spender, uint256 value) returns (bool)',
  'function setApprovalForAll(address operator, bool approved)',
]);

/** Decodes a transaction's call as an approval; null for any other call. */
function approvalOf({ input, selector }: Pick<TransactionRow, 'input' | 'selector'>): Approval | null {
  if (selector === null) return null;
  try {
    const { functionName, args } = decodeFunctionData({ abi: ABI, data: input });
    return functionName === 'approve'
      ? { to: lowerCase(args[0]), value: args[1], isGiven: true }
      : { to: lowerCase(args[0]), value: null, isGiven: args[1] };
  } catch {
    // Any other method, or call data that does not fit one of these.
    return null;
  }
}
