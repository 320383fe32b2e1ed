/** Where money for a session goes: transfers of that token to that recipient on that chain. Hex is lower case. */
export interface DepositAddress {
  readonly chainId: number;
  /** `NATIVE_COIN` for the chain's coin. */
  readonly tokenAddress: string;
  readonly recipientAddress: string;
}
