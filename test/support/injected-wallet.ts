import { randomUUID } from 'node:crypto';
import type { Page } from 'playwright-core';
import { httpRpc, RpcError } from '../../src/devnet/chain/rpc.ts';

/** An answer of a wallet to a page: a result, or an error with a code of EIP-1193. */
type WalletAnswer = { result: unknown } | { error: { code: number; message: string } };

/** A wallet in a browser page, with accounts of a node. It accepts every request by default. */
export interface InjectedWallet {
  /** Methods requested by pages, in order. */
  readonly asked: string[];
  /** Answers a method with an error from now on; null restores it. */
  refuse(method: string, error: { code: number; message: string } | null): void;
  /** Switches the wallet to a network. */
  chooseNetwork(chainId: number): void;
}

interface WalletOptions {
  readonly rpcUrl: string;
  readonly address: string;
  readonly chainId: number;
  readonly name?: string;
}

/**
 * Injects a wallet into every document that the page opens. It announces itself (EIP-6963) and forwards requests
 * (EIP-1193) to an anvil with unlocked accounts. Like an extension, it does not use the page's network.
 */
export async function injectWallet(
  page: Page,
  { rpcUrl, address, chainId: known, name = 'Sample Wallet' }: WalletOptions,
): Promise<InjectedWallet> {
  const rpc = httpRpc(rpcUrl);
  const refusals = new Map<string, { code: number; message: string }>();
  const asked: string[] = [];
  const uuid = randomUUID();
  const binding = `wallet_${uuid.replaceAll('-', '')}`;
  let chainId = known;

  async function answer(method: string, params: readonly unknown[]): Promise<WalletAnswer> {
    asked.push(method);
    const refusal = refusals.get(method);
    if (refusal !== undefined) return { error: refusal };
    if (method === 'eth_requestAccounts' || method === 'eth_accounts') return { result: [address] };
    if (method === 'eth_chainId') return { result: `0x${chainId.toString(16)}` };
    if (method === 'wallet_switchEthereumChain') {
      chainId = known;
      return { result: null };
    }
    try {
      return { result: await rpc.call(method, ...params) };
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
      return { error: { code: error.code ?? -32603, message: error.message } };
    }
  }

  await page.exposeFunction(binding, answer);
  await page.addInitScript(`(() => {
    const provider = {
      async request({ method, params = [] }) {
        const answer = await window.${binding}(method, params);
        if ('error' in answer) throw Object.assign(new Error(answer.error.message), { code: answer.error.code });
        return answer.result;
      },
    };
    const info = Object.freeze(${JSON.stringify({ uuid, name, icon: 'data:image/svg+xml,<svg xmlns="http://www.w3.org/2000/svg"/>', rdns: 'example.wallet' })});
    const announce = () =>
      dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail: Object.freeze({ info, provider }) }));
    addEventListener('eip6963:requestProvider', announce);
    announce();
  })();`);

  return {
    asked,
    refuse(method, error) {
      if (error === null) refusals.delete(method);
      else refusals.set(method, error);
    },
    chooseNetwork(id) {
      chainId = id;
    },
  };
}
