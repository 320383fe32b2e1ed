import type { VNode } from 'preact';
import { grouped } from '#pages/browser/amounts.ts';
import { h } from '#pages/browser/element.ts';
import type { Tab } from '#pages/browser/layout.ts';
import type { Explorer } from '../api.ts';
import {
  addressLogs,
  addressWithdrawals,
  blocksValidated,
  InternalTransactions,
  TokenTransfers,
  Transactions,
} from './activity.ts';
import { CoinHistory } from './coin-history.ts';
import { Contract } from './contract.ts';
import { HeldTokens, heldNfts } from './holdings.ts';

type Details = Explorer['AddressDetails'];
type Counters = Explorer['AddressCounters'];

/** Tabs of an address, limited to those with content. A tab without a counter is shown, because it may have content. */
export function addressTabs({
  chainId,
  address,
  counters,
}: {
  chainId: number;
  address: Details;
  counters: Counters | undefined;
}): readonly Tab[] {
  const of = { chainId, address: address.hash };
  const { is_contract: isContract } = address;
  const transactions = counters?.transactions_count ?? null;
  const transfers = counters?.token_transfers_count ?? null;
  const isUsed = isContract || transactions !== '0' || address.coin_balance !== '0';
  const tabs: readonly (readonly [isShown: boolean, id: string, label: string, content: () => VNode])[] = [
    [
      transactions !== '0',
      'transactions',
      counted('Transactions', transactions),
      () => h(Transactions, { ...of }),
    ],
    [isUsed, 'internal', 'Internal transactions', () => h(InternalTransactions, { ...of })],
    [
      address.has_token_transfers !== false && transfers !== '0',
      'transfers',
      counted('Token transfers', transfers),
      () => h(TokenTransfers, { ...of }),
    ],
    [address.has_tokens !== false, 'tokens', 'Tokens', () => h(HeldTokens, { ...of })],
    [address.has_tokens !== false, 'nfts', 'NFTs', () => heldNfts(of)],
    [isUsed, 'balance', 'Coin balance', () => h(CoinHistory, { ...of })],
    [
      isContract,
      'contract',
      'Contract',
      () => h(Contract, { ...of, implementations: address.implementations }),
    ],
    // The chain itself logs under an address without code.
    [
      isContract ? address.has_logs !== false : address.has_logs === true,
      'logs',
      'Logs',
      () => addressLogs(of),
    ],
    [
      address.has_validated_blocks !== false && counters?.validations_count !== '0',
      'blocks',
      counted('Blocks validated', counters?.validations_count ?? null),
      () => blocksValidated(of),
    ],
    [
      address.has_beacon_chain_withdrawals !== false,
      'withdrawals',
      'Withdrawals',
      () => addressWithdrawals(of),
    ],
  ];
  return tabs.flatMap(([isShown, id, label, content]) => (isShown ? [{ id, label, content }] : []));
}

/** Tab of an address that has something, the most telling first; undefined when it is not known. */
export function openingTab(address: Details, counters: Counters | undefined): string | undefined {
  const has = (count: string | null | undefined) => count != null && count !== '0';
  if (counters === undefined || counters.transactions_count !== '0') return undefined;
  if (has(counters.token_transfers_count)) return 'transfers';
  if (has(counters.validations_count)) return 'blocks';
  if (address.has_beacon_chain_withdrawals === true) return 'withdrawals';
  if (address.is_contract) return 'contract';
  return address.has_tokens === true ? 'tokens' : undefined;
}

function counted(name: string, count: string | null): string {
  return count === null ? name : `${name} (${grouped(count)})`;
}
