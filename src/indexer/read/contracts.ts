import type { Address, Hash, Hex } from 'viem';
import { bytesColumn, hexOf } from '../../db/columns.ts';
import type { Handle } from '../../db/open.ts';

/** How a contract came to be. */
export interface ContractRow {
  /** The latest transaction that created it: an address can be used again after its code was destroyed. */
  transactionHash: Hash;
  /** Who created it: the sender, or the contract that did it inside the transaction. */
  creator: Address;
  /** The creation code with its arguments; null when it was created inside the transaction. */
  creationInput: Hex | null;
}

/** Null when no transaction in the index created a contract there. */
export async function contract(handle: Handle, address: Address): Promise<ContractRow | null> {
  const [row] = await handle.raw<
    { hash: Buffer; creator: Buffer; input: Buffer; created_contract: Buffer | null }[]
  >(
    `select t.hash, c.creator, t.input, t.created_contract
     from contracts c cross join transactions t on t.id = c.transaction_id
     where c.address = ? order by c.transaction_id desc limit 1`,
    [bytesColumn(address)],
  );
  if (row === undefined) return null;
  const isOutermost = row.created_contract !== null && hexOf(row.created_contract) === lower(address);
  return {
    transactionHash: hexOf(row.hash),
    creator: hexOf(row.creator),
    creationInput: isOutermost ? hexOf(row.input) : null,
  };
}

function lower(address: Address): string {
  return address.toLowerCase();
}
