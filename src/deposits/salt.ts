import { encodeAbiParameters, type Hex, keccak256 } from 'viem';

/** Numbers a forwarder of an organization. */
export interface SaltParts {
  /** Random 32 bytes of an organization, by which all of its forwarders can be found again. */
  readonly seed: Hex;
  /** Random 32 bytes of a database, new after each restore, so that no number is used twice. */
  readonly epoch: Hex;
  /** Counts from 0 in each epoch. */
  readonly number: number;
}

/** Version of the way in which a salt is computed, not of the factory. */
const VERSION = 1n;

const FIELDS = [{ type: 'uint256' }, { type: 'bytes32' }, { type: 'bytes32' }, { type: 'uint256' }] as const;

/**
 * Salt of a forwarder: the hash of version, seed, epoch and number, encoded as by Solidity's `abi.encode` (Decision 394).
 * @throws RangeError for another number than a safe integer from 0 on, and viem's errors for other sizes
 */
export function depositSalt({ seed, epoch, number }: SaltParts): Hex {
  if (!Number.isSafeInteger(number) || number < 0)
    throw new RangeError(`${number} is not the number of a salt: a safe integer from 0 on`);
  return keccak256(encodeAbiParameters(FIELDS, [VERSION, seed, epoch, BigInt(number)]));
}
