import type { Address } from 'viem';
import { bytesColumn, hexOf } from '../../db/columns.ts';
import { placeholders } from '../../db/insert.ts';
import type { Handle } from '../../db/open.ts';
import type { Abis } from '../../evm/abi/abi.ts';
import { implementations } from './proxies.ts';

/** What is shown of an address wherever one appears. */
export interface AddressRow {
  address: Address;
  isContract: boolean;
  /** Name of a contract with a known ABI, else the token's own name, else null. */
  name: string | null;
  /** The same of the contract that a proxy hands its calls to; null when that is none or has no name. */
  implementationName: string | null;
  /** Whether its sources are known. */
  isVerified: boolean;
}

/** One row for each of the addresses, in their order, known or not. */
export async function addresses(
  { handle, abis }: { handle: Handle; abis: Abis },
  wanted: readonly Address[],
): Promise<AddressRow[]> {
  if (wanted.length === 0) return [];
  const bindings = wanted.map(bytesColumn);
  const list = placeholders(wanted.length);
  // A contract created in the newest blocks may not have been asked for its code yet.
  const contracts = await handle.raw<{ address: Buffer }[]>(
    `select address from addresses where address in (${list}) and is_contract = 1
     union all select address from contracts where address in (${list})`,
    [...bindings, ...bindings],
  );
  const targets = await implementations(handle, wanted);
  const named = [...new Set([...wanted, ...targets.values()])].map(bytesColumn);
  const tokens = await handle.raw<{ address: Buffer; name: string | null }[]>(
    `select address, name from tokens where address in (${placeholders(named.length)})`,
    named,
  );
  const isContract = new Set(contracts.map(row => hexOf(row.address)));
  const tokenNames = new Map(tokens.map(row => [hexOf(row.address), row.name]));
  const nameOf = (address: Address) => abis.contractName(address) ?? tokenNames.get(address) ?? null;
  return wanted.map(address => {
    const key = hexOf(bytesColumn(address));
    const target = targets.get(key);
    return {
      address: key,
      isContract: isContract.has(key) || tokenNames.has(key),
      name: nameOf(key),
      implementationName: target === undefined ? null : nameOf(target),
      isVerified: abis.knownContract(key)?.source !== undefined,
    };
  });
}
