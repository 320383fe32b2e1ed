import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { h } from '#pages/browser/element.ts';
import type { Column } from '#pages/browser/table.ts';
import type { Explorer } from '../api.ts';
import { AddressReference } from '../records/address-reference.ts';
import { TokenUnits } from '../records/figures.ts';
import { InstanceReference, symbolOf } from '../records/token-amount.ts';

type Holder = Explorer['TokenHolder'];
type Token = Explorer['Token'];

const PARTS = 10_000n;

/**
 * Columns of holders of a token or of one id. The share refers to the total supply and is omitted if that is unknown.
 */
export function holderColumns(
  chainId: number,
  { token, isOfInstance = false }: { token: Token | null; isOfInstance?: boolean },
): readonly Column<Holder>[] {
  const supply = isOfInstance || token?.type === 'ERC-1155' ? null : (token?.total_supply ?? null);
  return [
    {
      name: 'Holder',
      cell: ({ address }) => h(AddressReference, { chainId, address }),
    },
    ...(token?.type === 'ERC-1155' && !isOfInstance ? [idColumn(chainId, token)] : []),
    {
      name: 'Balance',
      isNumber: true,
      cell: ({ value }) =>
        value === null
          ? 'unknown'
          : h(TokenUnits, {
              amount: value,
              decimals: token?.decimals ?? null,
              symbol: token === null ? undefined : symbolOf(token),
            }),
    },
    ...(supply === null ? [] : [shareColumn(BigInt(supply))]),
  ];
}

/** Key of a holder in a list. */
export const holderKey = ({ address, token_id }: Holder) => `${address.hash} ${token_id}`;

function idColumn(chainId: number, token: Token): Column<Holder> {
  return {
    name: 'Token ID',
    cell: ({ token_id: id }) => id !== null && h(InstanceReference, { chainId, token, id }),
  };
}

function shareColumn(supply: bigint): Column<Holder> {
  return {
    name: 'Percentage',
    cell: ({ value }) => value !== null && supply > 0n && h(Share, { value: BigInt(value), supply }),
  };
}

function Share({ value, supply }: { value: bigint; supply: bigint }): VNode {
  const parts = (value * PARTS) / supply;
  const percent = parts === 0n && value > 0n ? '< 0.01 %' : `${Number(parts) / 100} %`;
  return html`<span class="share">
    <progress max=${Number(PARTS)} value=${Number(parts)} aria-label="Share of the supply"></progress>
    <span class="number">${percent}</span>
  </span>`;
}
