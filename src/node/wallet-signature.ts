import {
  type Address,
  encodeFunctionData,
  type Hex,
  hashMessage,
  isAddress,
  isHex,
  parseAbi,
  recoverMessageAddress,
} from 'viem';
import { Unavailable } from '#lib/unavailable.ts';
import type { ChainClient } from './client.ts';
import { contractRefusal } from './contract-refusal.ts';

/** Text with a signature to verify against an address. */
interface SignedMessage {
  readonly chainId: number;
  /** In any letter case. */
  readonly address: string;
  readonly message: string;
  /** Hex with `0x`; anything else is invalid. */
  readonly signature: string;
  /** True to accept only signatures of accounts, not of contracts; false when absent. */
  readonly isAccount?: boolean;
}

/**
 * Verifies that the address signed the text. @throws Unavailable when the chain must be asked and no node answers
 */
export type SignatureCheck = (input: SignedMessage) => Promise<boolean>;

const CONTRACT_ABI = parseAbi([
  'function isValidSignature(bytes32 hash, bytes signature) view returns (bytes4)',
]);
/** Result of a valid contract signature, padded to a word. Source: EIP-1271. */
const VALID = '0x1626ba7e'.padEnd(66, '0');
/** Far above what multisignature wallets send, and small enough for any node. */
const LONGEST_SIGNATURE = 2 + 2 * 8_192;

/**
 * Verifies message signatures of wallets (EIP-191). Signatures of accounts are checked locally. Otherwise the contract
 * at the address is called on its chain (EIP-1271). Each of the two requests to the node may take `deadlineMs`. On a
 * chain without a client only accounts can sign.
 */
export function signatureJudge(
  clientOf: (chainId: number) => ChainClient | undefined,
  { deadlineMs = 5_000 }: { deadlineMs?: number } = {},
): SignatureCheck {
  return async ({ chainId, address, message, signature, isAccount = false }) => {
    if (!isAddress(address, { strict: false })) return false;
    if (!isHex(signature) || signature.length % 2 !== 0 || signature.length > LONGEST_SIGNATURE) return false;
    if (await isByAccount(address, message, signature)) return true;
    if (isAccount) return false;
    const client = clientOf(chainId);
    return client !== undefined && isByContract(client, { address, message, signature, deadlineMs });
  };
}

async function isByAccount(address: Address, message: string, signature: Hex): Promise<boolean> {
  try {
    const signer = await recoverMessageAddress({ message, signature });
    return signer.toLowerCase() === address.toLowerCase();
  } catch {
    // Not an account's signature: wrong length, or not a point on the curve.
    return false;
  }
}

async function isByContract(
  client: ChainClient,
  {
    address,
    message,
    signature,
    deadlineMs,
  }: { address: Address; message: string; signature: Hex; deadlineMs: number },
): Promise<boolean> {
  const data = encodeFunctionData({
    abi: CONTRACT_ABI,
    functionName: 'isValidSignature',
    args: [hashMessage(message), signature],
  });
  try {
    await within(deadlineMs, client.verify());
  } catch (error) {
    throw unverified(error);
  }
  try {
    const call = client.public.request({ method: 'eth_call', params: [{ to: address, data }, 'latest'] });
    // An address without code returns `0x`, and a contract that echoes its input returns more than a word.
    return (await within(deadlineMs, call)).toLowerCase() === VALID;
  } catch (error) {
    // The call reverted, or the function does not exist. A node that lacks the block says nothing about the signature.
    if (contractRefusal(error) !== undefined) return false;
    throw unverified(error);
  }
}

function unverified(cause: unknown): Unavailable {
  return new Unavailable('The signature cannot be verified now, because no node of its chain answers', cause);
}

/** Rejects at the deadline. The work is not cancelled, but its result is ignored. @throws Error at the deadline */
async function within<T>(deadlineMs: number, work: Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => reject(new Error(`The node did not verify a signature within ${deadlineMs} ms.`)),
    deadlineMs,
  );
  return Promise.race([work, promise]).finally(() => clearTimeout(timer));
}
