import type { Hex } from 'viem';

/** Where a known contract's code came from, and how sure that is. Everything the compiler was given and gave. */
export interface ContractSource {
  /** Name in the source text. */
  readonly contractName: string;
  readonly language: 'solidity' | 'vyper' | 'yul';
  /** With a leading `v`, such as `v0.8.30+commit.73712a01`. */
  readonly compilerVersion: string;
  /** The compiler's settings as given to it. */
  readonly settings: Readonly<Record<string, unknown>>;
  readonly filePath: string;
  readonly sourceCode: string;
  readonly additionalSources: readonly { readonly path: string; readonly content: string }[];
  /** `full` when the code matches down to the hash of its metadata. */
  readonly match: 'full' | 'partial';
  /** Whether the match is the finding of a public registry of verified contracts. */
  readonly isFromRegistry: boolean;
  /** Without constructor arguments; null when unknown. */
  readonly creationCode: Hex | null;
  /** As compiled, immutables zero; null when unknown. */
  readonly deployedCode: Hex | null;
  /** Bytes of the deployed code that the constructor filled in. */
  readonly immutables: readonly { readonly start: number; readonly length: number }[];
  /** ABI-encoded constructor arguments, where they are known beforehand. */
  readonly constructorArgs: Hex | null;
}
