import { type Address, type Hex, recoverTransactionAddress, slice, type TransactionSerialized } from 'viem';

/** Sender of an encoded transaction, by its signature. Undefined for a type of a rollup, which has none. */
export async function signedSender(encoded: Hex): Promise<Address | undefined> {
  return isSigned(encoded) ? recoverTransactionAddress({ serializedTransaction: encoded }) : undefined;
}

/** True for the types of Ethereum, and for a transaction without a type, which is a list. Source: EIP-2718. */
function isSigned(encoded: Hex): encoded is TransactionSerialized {
  const type = Number(slice(encoded, 0, 1));
  return type <= 4 || type >= 0xc0;
}
