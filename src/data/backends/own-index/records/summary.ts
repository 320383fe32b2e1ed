import { type Address, formatEther, formatUnits, maxUint256 } from 'viem';
import type { ExplorerSchemas } from '#contract/contracts/explorer.ts';
import type { Abis } from '#evm/abi/abi.ts';
import type { TransactionRow } from '#indexer/read/blocks/transaction-row.ts';
import type { Approval } from '../parts/approval.ts';
import { methodOf } from '../parts/decoded.ts';
import type { Parties } from '../parts/parties.ts';

export type Summary = ExplorerSchemas['Summary'];
type Variable = ExplorerSchemas['SummaryVariable'];

/** A sentence from its template; `action_type` is the verb that all of them begin with. */
export function sentence(action: string, template: string, variables: Record<string, Variable>): Summary {
  return {
    summary_template: `{action_type} ${template}`,
    summary_template_variables: { action_type: text(action), ...variables },
  };
}

export function text(value: string): Variable {
  return { type: 'string', value };
}

/** An amount of a token in its whole units, or in its smallest where its decimals are not known. */
export function tokenAmount(amount: bigint, decimals: string | null): Variable {
  return { type: 'currency', value: formatUnits(amount, Number(decimals ?? 0)) };
}

export function addressVariable(parties: Parties, address: Address): Variable {
  return { type: 'address', value: parties.address(address) };
}

/** `{native}` stands for the chain's coin and has no variable. */
export function coinSentence({ to, value }: { to: Address; value: bigint }, parties: Parties): Summary {
  return sentence('Transfer', '{amount} {native} to {to_address}', {
    amount: coinAmount(value),
    to_address: addressVariable(parties, to),
  });
}

export function creationSentence(created: Address, parties: Parties): Summary {
  return sentence('Create', 'contract {contract_address}', {
    contract_address: addressVariable(parties, created),
  });
}

export function callSentence(
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

/** Null when the called contract is no known token: then nobody can say what was approved. */
export function approvalSentence(
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
