import type { Address } from 'viem';
import type { ExplorerSchemas } from '#contract/contracts/explorer.ts';
import type { AddressRow } from '#indexer/read/addresses.ts';
import type { TokenRow } from '#indexer/read/tokens/tokens.ts';
import type { IndexSource } from '../source/source.ts';
import { amount, checksummed } from './format.ts';

/** Address and token records for all addresses that one answer mentions. */
export interface Parties {
  address(address: Address): ExplorerSchemas['Address'];
  addressOrNull(address: Address | null): ExplorerSchemas['Address'] | null;
  token(address: Address): ExplorerSchemas['Token'] | null;
  /** Implementation contract of a proxy. */
  implementation(address: Address): Address | null;
}

/** Looks up all addresses of an answer, and its tokens with their prices. */
export async function loadParties(
  { reader, rates }: Pick<IndexSource, 'reader' | 'rates'>,
  mentioned: { addresses: readonly (Address | null)[]; tokens?: readonly Address[] },
): Promise<Parties> {
  const wanted = [...new Set(mentioned.addresses.filter(address => address !== null))];
  const [addressRows, tokenRows] = await Promise.all([
    reader.addresses(wanted),
    reader.tokens([...new Set(mentioned.tokens ?? [])]),
  ]);
  const addresses = new Map(addressRows.map(row => [row.address, addressRecord(row)]));
  const implementations = new Map(addressRows.map(row => [row.address, row.implementation]));
  const tokenRates = await rates.ofTokens(tokenRows);
  const tokens = new Map(tokenRows.map(row => [row.address, tokenRecord(row, tokenRates)]));
  const address = (wantedAddress: Address) =>
    addresses.get(wantedAddress) ??
    addressRecord({
      address: wantedAddress,
      isContract: false,
      name: null,
      implementation: null,
      implementationName: null,
      isVerified: false,
    });
  return {
    address,
    addressOrNull: wantedAddress => (wantedAddress === null ? null : address(wantedAddress)),
    token: wantedAddress => tokens.get(wantedAddress) ?? null,
    implementation: wantedAddress => implementations.get(wantedAddress) ?? null,
  };
}

/** Address record. Facts that a node does not have are null, empty or absent (Decision 21). */
function addressRecord(row: AddressRow): ExplorerSchemas['Address'] {
  const { address, isContract, name, implementationName, isVerified } = row;
  return {
    hash: checksummed(address),
    implementation_name: implementationName,
    name,
    is_contract: isContract,
    private_tags: [],
    watchlist_names: [],
    public_tags: [],
    is_verified: isContract && isVerified,
  };
}

/** Token record from the index, with its price among these. */
export function tokenRecord(row: TokenRow, rates: ReadonlyMap<Address, string>): ExplorerSchemas['Token'] {
  return {
    circulating_market_cap: null,
    icon_url: null,
    name: row.name,
    decimals: row.decimals === null ? null : String(row.decimals),
    symbol: row.symbol,
    address: checksummed(row.address),
    type: row.type,
    holders: String(row.holderCount),
    exchange_rate: rates.get(row.address) ?? null,
    total_supply: amount(row.totalSupply),
  };
}
