import type { Hex } from 'viem';

export interface DecodedParameter {
  name: string;
  type: string;
  /** Integers in decimal, addresses and bytes in hex, arrays and tuples as JSON of those. */
  value: string;
}

export interface DecodedInput {
  /** Such as `transfer(address to, uint256 value)`. */
  signature: string;
  selector: Hex;
  parameters: DecodedParameter[];
}

export interface DecodedLog {
  signature: string;
  /** First four bytes of the first topic. */
  selector: Hex;
  /** An indexed value of dynamic type is its hash: that is all the log holds. */
  parameters: (DecodedParameter & { indexed: boolean })[];
}
