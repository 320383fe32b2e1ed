import { html } from 'htm/preact';
import type { ComponentChildren, VNode } from 'preact';
import { h } from '#pages/browser/element.ts';
import { Badge } from '#pages/browser/layout.ts';
import type { Column } from '#pages/browser/table.ts';
import type { Explorer } from '../api.ts';
import { AddressReference } from '../records/address-reference.ts';
import { CoinAmount, CoinSymbol } from '../records/coin.ts';
import { TokenUnits } from '../records/figures.ts';
import { InstanceReference, TokenReference } from '../records/token-amount.ts';

type StateChange = Explorer['StateChange'];
type NftChange = Explorer['NftChange'];

/** Columns of the balances changed by a transaction. */
export function stateChangeColumns(chainId: number): readonly Column<StateChange>[] {
  return [
    {
      name: 'Address',
      cell: ({ address, is_miner }) =>
        html`${h(AddressReference, { chainId, address })}${is_miner && html` ${h(Badge, { children: 'fee recipient' })}`}`,
    },
    { name: 'Asset', cell: change => assetCell(chainId, change) },
    {
      name: 'Before',
      isNumber: true,
      cell: change => balanceCell(chainId, change.token, change.balance_before),
    },
    {
      name: 'After',
      isNumber: true,
      cell: change => balanceCell(chainId, change.token, change.balance_after),
    },
    { name: 'Change', isNumber: true, cell: change => changeCell(chainId, change) },
  ];
}

/** Key of a state change in a list. Each address and asset has one change. */
export function stateChangeKey({ address, token, token_id }: StateChange): string {
  return [address.hash, token?.address, token_id].join(' ');
}

function assetCell(chainId: number, { type, token, token_id }: StateChange): VNode {
  if (type === 'coin' || token === null) return h(CoinSymbol, { chainId });
  return html`<span class="amount">${h(TokenReference, { chainId, token })}${token_id !== null && h(InstanceReference, { chainId, token, id: token_id })}</span>`;
}

/** Amount of the coin or of a token; a dash if it is unknown. */
function balanceCell(
  chainId: number,
  token: StateChange['token'],
  balance: string | null,
): ComponentChildren {
  if (balance === null) return '–';
  return token === null
    ? h(CoinAmount, { chainId, amount: balance })
    : h(TokenUnits, { amount: balance, decimals: token.decimals });
}

function changeCell(chainId: number, { token, change }: StateChange): ComponentChildren {
  if (change === null) return '–';
  if (typeof change !== 'string') return change.map(nft => nftChange(chainId, token, nft));
  const amount = BigInt(change);
  const units = balanceCell(chainId, token, change);
  return html`<span class=${amount < 0n ? 'lost' : 'gained'}>${amount > 0n && '+'}${units}</span>`;
}

function nftChange(
  chainId: number,
  token: StateChange['token'],
  { direction, total }: NftChange,
): VNode | null {
  const { token_id: id } = total;
  if (token === null || id === null) return null;
  const isGained = direction === 'to';
  return html`<div key=${`${direction} ${id}`} class=${isGained ? 'gained' : 'lost'}>
    ${isGained ? 'received' : 'sent'} ${h(InstanceReference, { chainId, token, id })}
  </div>`;
}
