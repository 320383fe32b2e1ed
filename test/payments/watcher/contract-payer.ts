import { type Address, encodeFunctionData, getContractAddress, type Hex, parseAbi } from 'viem';
import { creationCode } from '../../../src/devnet/activity/artifacts.ts';
import { addressOf, type TestPaymentChain } from '../../lab/payment-chain.ts';

/** A contract that passes coins on. */
export interface ContractPayer {
  readonly address: Address;
  /** Sends coins to recipients in equal shares through the contract; the transaction waits in the pool. */
  pay(recipients: readonly string[], value: bigint): Promise<{ readonly hash: Hex; readonly raw: Hex }>;
}

const ABI = parseAbi(['function split(address[] payees) payable']);
/** The account that sends the coins. */
const FROM = 6;

/** Deploys the contract in a block of its own. */
export async function contractPayer(chain: Pick<TestPaymentChain, 'send' | 'mine' | 'call' | 'accounts'>) {
  const from = addressOf(`${chain.accounts[FROM]}`);
  const nonce = BigInt(Number(await chain.call('eth_getTransactionCount', from, 'latest')));
  await chain.send({ from: FROM, data: creationCode('PaymentSplitter') });
  await chain.mine();
  return payerAt(getContractAddress({ from, nonce }), chain);
}

/** The same contract on another chain or branch that has it. */
export function payerAt(address: Address, chain: Pick<TestPaymentChain, 'send'>): ContractPayer {
  return {
    address,
    pay(recipients, value) {
      const args = [recipients.map(addressOf)] as const;
      const data = encodeFunctionData({ abi: ABI, functionName: 'split', args });
      return chain.send({ from: FROM, to: address, data, value, gas: 10_000_000n });
    },
  };
}
