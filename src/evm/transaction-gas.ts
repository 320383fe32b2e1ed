/** Largest gas of a transaction since the fork before Amsterdam. Source: EIP-7825. */
export const MAX_TRANSACTION_GAS = 2n ** 24n;
