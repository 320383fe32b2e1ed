import {
  type Address,
  type Hash,
  type Hex,
  keccak256,
  type PublicClient,
  type TransactionReceipt,
  WaitForTransactionReceiptTimeoutError,
} from 'viem';
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import { MAX_TRANSACTION_GAS } from '#evm/transaction-gas.ts';
import { Refused, readInput, UsageError } from '#lib/command-line.ts';
import { amountText } from '#payments/amounts/token-amount.ts';
import type { OpenedChain } from './chain-option.ts';

/** Content of a transaction. */
interface Sendable {
  readonly to: Address;
  readonly data?: Hex;
  readonly value?: bigint;
}

/** An account that pays for transactions. */
export interface Sender {
  readonly address: Address;
  /** Sends a transaction and waits for its block. @throws Refused when it fails */
  send(content: Sendable): Promise<TransactionReceipt>;
}

const WAIT_MS = 5 * 60_000;
const POLL_MS = 500;

/** Help for the option that names the key. */
export const KEY_USAGE = `  --key FILE               file with the private key of the account that pays, 64 hexadecimal digits; - for standard input`;

/** Account of the private key in a file. @throws UsageError, Refused */
export async function senderOf(
  { id, native, client: { public: client } }: OpenedChain,
  file: string | undefined,
): Promise<Sender> {
  if (file === undefined) throw new UsageError('--key is missing');
  const account = accountOf(await readInput(file), file);
  if ((await client.getBalance({ address: account.address })) === 0n)
    throw new Refused(`${account.address} has no coins on chain ${id} to pay for gas.`);
  return {
    address: account.address,
    async send({ to, data = '0x', value = 0n }) {
      const content = { to, data, value };
      const [nonce, estimate, prices] = await Promise.all([
        client.getTransactionCount({ address: account.address, blockTag: 'pending' }),
        client.estimateGas({ account: account.address, ...content }),
        pricesOf(client),
      ]);
      const gas = limitOf(estimate);
      const cost = gas * (prices.gasPrice ?? prices.maxFeePerGas) + value;
      const balance = await client.getBalance({ address: account.address });
      if (balance < cost)
        throw new Refused(
          `${account.address} has ${amountText(balance, native)} on chain ${id}, and the transaction may cost ${amountText(cost, native)}.`,
        );
      const raw = await account.signTransaction({ chainId: id, nonce, gas, ...content, ...prices });
      // Named before it is sent: the answer can be lost.
      process.stdout.write(`sending  transaction ${keccak256(raw)}\n`);
      return awaitedReceipt(client, await client.sendRawTransaction({ serializedTransaction: raw }));
    },
  };
}

/** Receipt of a transaction, when a block has it. @throws Refused when it failed, or is in no block for long */
export async function awaitedReceipt(client: PublicClient, hash: Hash): Promise<TransactionReceipt> {
  const options = { hash, timeout: WAIT_MS, pollingInterval: POLL_MS };
  const receipt = await client.waitForTransactionReceipt(options).catch((cause: unknown) => {
    if (!(cause instanceof WaitForTransactionReceiptTimeoutError)) throw cause;
    throw new Refused(
      `No block has transaction ${hash} after five minutes. Run the command again when one does.`,
      {
        cause,
      },
    );
  });
  if (receipt.status !== 'success') throw new Refused(`Transaction ${hash} failed.`);
  return receipt;
}

/** Messages never contain the key. */
function accountOf(text: string, file: string): PrivateKeyAccount {
  const [, digits] = /^(?:0x)?([0-9a-fA-F]{64})$/.exec(text.trim()) ?? [];
  if (digits === undefined) throw new UsageError(`--key: ${file} must hold 64 hexadecimal digits`);
  try {
    return privateKeyToAccount(`0x${digits}`);
  } catch {
    throw new UsageError(`--key: ${file} holds a number that is no private key`);
  }
}

/** A fifth more than estimated, because the state may change until the block. */
function limitOf(estimate: bigint): bigint {
  const limit = estimate + estimate / 5n;
  return estimate <= MAX_TRANSACTION_GAS && limit > MAX_TRANSACTION_GAS ? MAX_TRANSACTION_GAS : limit;
}

async function pricesOf(client: PublicClient) {
  const { baseFeePerGas } = await client.getBlock();
  if (baseFeePerGas === null) return { type: 'legacy', gasPrice: await client.getGasPrice() } as const;
  const maxPriorityFeePerGas = await client.estimateMaxPriorityFeePerGas();
  const maxFeePerGas = 2n * baseFeePerGas + maxPriorityFeePerGas;
  return { type: 'eip1559', maxPriorityFeePerGas, maxFeePerGas } as const;
}
