import { type Address, concat, type Hex, slice } from 'viem';

/**
 * The deterministic deployment proxy, which creates contracts by CREATE2 at one address on all chains. Source, also of the
 * transaction: https://github.com/Arachnid/deterministic-deployment-proxy. EIP-7997 makes it a part of chains.
 */
export const PROXY: Address = '0x4e59b44847b379578588920ca78fbf26c0b4956c';

/**
 * Keyless transaction that creates the proxy, for chains that accept one without a chain id (EIP-155) and ask for no more
 * gas. Amsterdam asks for 320,000.
 */
export const PROXY_CREATION = {
  sender: '0x3fab184622dc19b6109349b94811493bf2a45362',
  /** Cost of the transaction at its fixed price, which its sender must hold. */
  costWei: 10n ** 16n,
  gas: 100_000n,
  code: '0x604580600e600039806000f350fe7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffe03601600081602082378035828234f58015156039578182fd5b8082525050506014600cf3',
  raw: '0xf8a58085174876e800830186a08080b853604580600e600039806000f350fe7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffe03601600081602082378035828234f58015156039578182fd5b8082525050506014600cf31ba02222222222222222222222222222222222222222222222222222222222222222a02222222222222222222222222222222222222222222222222222222222222222',
} as const satisfies Record<string, Hex | bigint>;

/** Code of the proxy, without the instructions that return it. */
export const PROXY_CODE: Hex = slice(PROXY_CREATION.code, 14);

/** Input of a call of the proxy that creates a contract. */
export function creationCall(creationCode: Hex, salt: Hex): Hex {
  return concat([salt, creationCode]);
}
