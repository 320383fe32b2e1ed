/** Token address that stands for the native coin. */
export const NATIVE = /^0x0{40}$/;

/** Interface of a wallet for pages. Source: EIP-1193. */
export interface WalletProvider {
  request(call: { readonly method: string; readonly params?: readonly unknown[] }): Promise<unknown>;
}

/** A wallet that announced itself. Its name and icon are claims, not proof. Source: EIP-6963. */
export interface Wallet {
  /** Id that the wallet gives itself. */
  readonly id: string;
  readonly name: string;
  readonly icon: string;
  readonly provider: WalletProvider;
}

export function isProvider(value: unknown): value is WalletProvider {
  return typeof fieldOf(value, 'request') === 'function';
}

/** A field of an untrusted value from a wallet. */
export function fieldOf(value: unknown, name: string): unknown {
  return Reflect.get(Object(value), name);
}
