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
import { type ChainClient, nodeAnswered } from './client.ts';

/** A text that an address is said to have signed. */
export interface SignedMessage {
  readonly chainId: number;
  /** In any letter case. */
  readonly address: string;
  readonly message: string;
  /** `0x…`; anything else is no signature. */
  readonly signature: string;
  /** Whether a contract cannot have signed; it can when absent. */
  readonly isAccount?: boolean;
}

/** Whether the address signed the text. @throws Error when only the chain can tell and its node does not answer. */
export type SignatureJudge = (input: SignedMessage) => Promise<boolean>;

const CONTRACT_ABI = parseAbi([
  'function isValidSignature(bytes32 hash, bytes signature) view returns (bytes4)',
]);
/** What a contract answers for a signature of its own, in a whole word. Source: EIP-1271. */
const VALID = '0x1626ba7e'.padEnd(66, '0');
/** Far above what multisignature wallets send, and small enough for any node. */
const LONGEST_SIGNATURE = 2 + 2 * 8_192;

/**
 * Judges signatures of texts as wallets make them (EIP-191): an account's own locally, any other by asking the address
 * itself on its chain (EIP-1271), for `deadlineMs` at most. On a chain without a client only accounts can sign.
 */
export function signatureJudge(
  clientOf: (chainId: number) => ChainClient | undefined,
  { deadlineMs = 5_000 }: { deadlineMs?: number } = {},
): SignatureJudge {
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
    // No signature of an account: wrong length, or no point of the curve.
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
  await within(deadlineMs, client.verify());
  try {
    const call = client.public.request({ method: 'eth_call', params: [{ to: address, data }, 'latest'] });
    // An address without code answers `0x`, one that only echoes what it is asked with more than a word.
    return (await within(deadlineMs, call)).toLowerCase() === VALID;
  } catch (error) {
    // It reverted, or has no such function.
    if (nodeAnswered(error)) return false;
    throw error;
  }
}

/** @throws Error when it takes longer; what was begun goes on unheard. */
async function within<T>(deadlineMs: number, work: Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => reject(new Error(`The node did not judge a signature within ${deadlineMs} ms.`)),
    deadlineMs,
  );
  return Promise.race([work, promise]).finally(() => clearTimeout(timer));
}
