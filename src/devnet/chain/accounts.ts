import { pbkdf2Sync } from 'node:crypto';
import { type Address, bytesToHex, type Hex } from 'viem';
import { HDKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';

/** Publicly known test mnemonic. Its accounts hold nothing of value on any chain. */
export const MNEMONIC = 'test test test test test test test test test test test junk';

/** Number of accounts that every embedded chain funds and unlocks for the activity. */
export const ACCOUNT_COUNT = 24;

/** Index of one more funded account, which only posts blobs. */
export const BLOB_SENDER = ACCOUNT_COUNT;

// Accounts that sign EIP-7702 authorizations start here and never send a transaction, so their nonce is known.
const FIRST_AUTHORITY = 1000;

/** The keys behind the embedded chains' accounts. */
export interface Accounts {
  /** Address of each funded account, by its index. */
  readonly addresses: readonly Address[];
  /** A funded account that can sign transactions which the node does not sign itself. */
  signer(index: number): PrivateKeyAccount;
  /** Private key of a funded account. It is no secret, because `MNEMONIC` is public. */
  privateKey(index: number): Hex;
  /** The n-th account that signs an authorization. Each is used once. */
  authority(index: number): PrivateKeyAccount;
}

let derived: Accounts | undefined;

/**
 * The keys of `MNEMONIC` as wallets derive them (BIP-39 without a passphrase, BIP-44 path of Ethereum). They are derived
 * once per process, because it takes a quarter of a second.
 */
export function deriveAccounts(): Accounts {
  derived ??= derive();
  return derived;
}

function derive(): Accounts {
  const seed = pbkdf2Sync(MNEMONIC, 'mnemonic', 2048, 64, 'sha512');
  const parent = HDKey.fromMasterSeed(seed).derive("m/44'/60'/0'/0");

  function privateKeyOf(index: number): Hex {
    const { privateKey } = parent.deriveChild(index);
    if (privateKey === null) throw new Error(`account ${index} has no private key`);
    return bytesToHex(privateKey);
  }

  const accountOf = (index: number) => privateKeyToAccount(privateKeyOf(index));
  const funded = Array.from({ length: ACCOUNT_COUNT + 1 }, (_, index) => accountOf(index));

  return {
    addresses: funded.slice(0, ACCOUNT_COUNT).map(({ address }) => address),
    signer: index => funded[index] ?? accountOf(index),
    privateKey: privateKeyOf,
    authority: index => accountOf(FIRST_AUTHORITY + index),
  };
}
