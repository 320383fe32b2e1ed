import { encodeFunctionData, erc20Abi, type Hex, isAddress, isHex, numberToHex } from 'viem';
import type { JsonObject } from '#contract/contracts/document.ts';
import { isObject } from '#lib/json.ts';
import { deriveAccounts } from '../../src/devnet/chain/accounts.ts';
import { httpRpc } from '../../src/devnet/chain/rpc.ts';
import type { EmbeddedChain } from '../../src/devnet/embedded-chain.ts';

/** Paying account. It takes part in the generated activity, so it has tokens. */
const PAYER = 7;
const GWEI = 10n ** 9n;

/** Payer with a wallet on an embedded chain. Each transfer is mined at once. */
export interface Payer {
  readonly address: string;
  sign(message: string): Promise<Hex>;
  /** Sends tokens, and mines the transfer and one block on top. Returns its hash. */
  pay(transfer: { token: unknown; to: unknown; amount: unknown }, now: number): Promise<Hex>;
  /** Sends a call of a contract, and mines it and one block on top. Returns its hash. */
  send(call: { to: unknown; data: unknown; gas: number }, now: number): Promise<Hex>;
}

export function payerOn({ rpcUrl }: EmbeddedChain): Payer {
  const rpc = httpRpc(rpcUrl);
  const wallet = deriveAccounts().signer(PAYER);
  return {
    address: wallet.address,
    sign: message => wallet.signMessage({ message }),
    async pay({ token, to, amount }, now) {
      if (typeof to !== 'string' || !isAddress(to) || typeof token !== 'string') {
        throw new Error(`nothing can be paid to ${JSON.stringify({ token, to })}`);
      }
      const args = [to, BigInt(String(amount))] as const;
      const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args });
      return send({ to: token, data, gas: 100_000 }, now);
    },
    send,
  };

  async function send({ to, data, gas }: { to: unknown; data: unknown; gas: number }, now: number) {
    const hash = await rpc.call('eth_sendTransaction', {
      from: wallet.address,
      to,
      data,
      gas: numberToHex(gas),
      maxFeePerGas: numberToHex(100n * GWEI),
      maxPriorityFeePerGas: numberToHex(GWEI),
    });
    const second = Math.floor(now / 1000);
    await rpc.call('evm_mine', second);
    await rpc.call('evm_mine', second + 1);
    if (!isHex(hash)) throw new Error(`the node answered ${JSON.stringify(hash)}`);
    return hash;
  }
}

/** Payment that a session or a checkout requests. */
export function dueOf({ token, token_address, recipient_address, amount_due }: JsonObject) {
  return {
    token: isObject(token) ? token.address : token_address,
    to: recipient_address,
    amount: amount_due,
  };
}
