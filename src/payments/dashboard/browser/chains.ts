import { html } from 'htm/preact';
import { createContext, type VNode } from 'preact';
import { useContext } from 'preact/hooks';
import { grouped, inOwnMarks, wholeUnits } from '#pages/browser/amounts.ts';
import { h } from '#pages/browser/element.ts';
import { Reference, shortened, webAddress } from '#pages/browser/reference.ts';
import type { Payments } from './api.ts';

/** Chains on which the organization can be paid. */
export type Chains = readonly Payments['PaymentChain'][];

const Known = createContext<Chains | undefined>(undefined);

/** Provides the chains of the key's mode to all parts of a page; undefined until they are known. */
export const ChainsProvider = Known.Provider;

/** Chains on which payments can be taken; undefined until they are known. */
export function useChains(): Chains | undefined {
  return useContext(Known);
}

/** Token of an amount, by chain and address. */
interface ChainToken {
  readonly chain_id: number;
  readonly token_address: string;
}

/** Configured token of a chain; undefined for other tokens, and until the chains are known. */
function useToken(of: ChainToken): Payments['PaymentToken'] | undefined {
  return tokenAt(useChains() ?? [], of);
}

/** Configured token of a chain; undefined for other tokens. */
export function tokenAt(
  chains: Chains,
  { chain_id, token_address }: ChainToken,
): Payments['PaymentToken'] | undefined {
  const chain = chains.find(({ id }) => id === chain_id);
  return chain?.tokens.find(({ address }) => address === token_address);
}

/** Exact amount in whole units with the symbol of its token, given in smallest units. */
export function Amount({ units, of }: { units: string; of: ChainToken }): VNode {
  const areKnown = useChains() !== undefined;
  const token = useToken(of);
  if (token !== undefined) return html`${inOwnMarks(wholeUnits(units, token.decimals))} ${token.symbol}`;
  if (!areKnown) return html`…`;
  return html`<span title=${`Token ${of.token_address}, which is no longer configured`}>
    ${inOwnMarks(grouped(units))} units of ${shortened(of.token_address)}
  </span>`;
}

/** Name of a chain, or its id if it is not configured. */
export function ChainName({ id }: { id: number }): VNode {
  return html`${useChains()?.find(chain => chain.id === id)?.name ?? `Chain ${id}`}`;
}

/** Transaction hash, linked to the chain's explorer if one is configured. */
export function TransactionHash({ hash, chainId }: { hash: string; chainId: number }): VNode {
  const explorer = useChains()?.find(({ id }) => id === chainId)?.explorer_url;
  const href = webAddress(explorer?.replace('{tx_hash}', encodeURIComponent(hash)));
  return h(Reference, { value: hash, href });
}
