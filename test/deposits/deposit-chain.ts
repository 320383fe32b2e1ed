import { readFileSync } from 'node:fs';
import {
  type Abi,
  type Address,
  encodeDeployData,
  encodeFunctionData,
  erc20Abi,
  type Hex,
  hexToBigInt,
  keccak256,
  type Log,
  numberToHex,
} from 'viem';
import { CURRENT_FACTORY, FACTORY_SALT, forwarderAddress } from '#deposits/deposit-factory.ts';
import { creationCall, PROXY } from '#deposits/deterministic-proxy.ts';
import {
  CALL_GAS,
  type SweepItem,
  type SweepOutcome,
  sweepInput,
  sweepOutcomes,
} from '#deposits/sweep-call.ts';
import { deriveAccounts } from '#devnet/chain/accounts.ts';
import type { ChainKind } from '../lab/chain-kind.ts';
import { addressOf, startPaymentChain } from '../lab/payment-chain.ts';
import { manualClock } from '../support/manual-clock.ts';

/** Sends all that a test does. It is no recipient. */
const SENDER = 0;
/** Enough for every transaction, and within the most that Amsterdam allows. */
const GAS = 16_000_000n;
const PRICES = { maxFeePerGas: 10n ** 11n, maxPriorityFeePerGas: 10n ** 9n };

/** A transaction in a block. */
export interface MinedTransaction {
  readonly isSuccess: boolean;
  readonly gasUsed: number;
  readonly contract: Address | null;
  readonly logs: readonly Log[];
}

interface Transacted {
  readonly to?: Address;
  readonly data?: Hex;
  readonly value?: bigint;
  readonly gas?: bigint;
}

/** A chain with the deposit factory. `await using` ends it. */
export async function startDepositChain(kind: ChainKind) {
  const chain = await startPaymentChain({ clock: manualClock(Date.UTC(2026, 4, 4)), ...kind });
  const signer = deriveAccounts().signer(SENDER);

  async function transact({ gas = GAS, ...content }: Transacted): Promise<MinedTransaction> {
    const nonce = Number(await chain.call('eth_getTransactionCount', signer.address, 'pending'));
    const { chainId } = chain;
    const raw = await signer.signTransaction({ type: 'eip1559', chainId, nonce, gas, ...PRICES, ...content });
    const hash = await chain.call('eth_sendRawTransaction', raw);
    await chain.mine();
    const receipt = Object(await chain.call('eth_getTransactionReceipt', hash));
    return {
      isSuccess: receipt.status === '0x1',
      gasUsed: Number(receipt.gasUsed),
      contract: receipt.contractAddress,
      logs: receipt.logs,
    };
  }

  async function deploy(name: string): Promise<Address> {
    const { abi, bytecode } = artifactOf(name);
    const { contract } = await transact({ data: encodeDeployData({ abi, bytecode, args: [] }) });
    if (contract === null) throw new Error(`${name} was not deployed`);
    return contract;
  }

  async function balance(token: Address | null, holder: Address): Promise<bigint> {
    if (token === null) return BigInt(String(await chain.call('eth_getBalance', holder, 'latest')));
    const data = encodeFunctionData({ abi: erc20Abi, functionName: 'balanceOf', args: [holder] });
    return hexToBigInt(await read({ to: token, data }));
  }

  async function read(call: { to: Address; data: Hex; gas?: Hex }): Promise<Hex> {
    return addressOf(String(await chain.call('eth_call', { from: signer.address, ...call }, 'latest')));
  }

  /** Sends a sweep. Rejects nothing: a test reads what became of it. */
  async function sweep(
    items: readonly SweepItem[],
    { callGas = CALL_GAS, gas = GAS }: { callGas?: bigint; gas?: bigint } = {},
  ): Promise<MinedTransaction & { outcomes: SweepOutcome[] }> {
    const mined = await transact({ to: CURRENT_FACTORY.address, data: sweepInput(items, callGas), gas });
    return { ...mined, outcomes: sweepOutcomes(mined.logs) };
  }

  const factory = await transact({
    to: PROXY,
    data: creationCall(CURRENT_FACTORY.creationCode, FACTORY_SALT),
  });
  if (!factory.isSuccess) throw new Error('the factory was not deployed');

  return {
    ...chain,
    factoryGas: factory.gasUsed,
    transact,
    deploy,
    balance,
    read,
    sweep,
    /** Has the factory create forwarders at other addresses, as chains that derive them in another way. Returns its code. */
    async createElsewhere(): Promise<Hex> {
      const code = addressOf(String(await chain.call('eth_getCode', CURRENT_FACTORY.address, 'latest')));
      // The size of the creation code, before CREATE2, becomes a sum in place of a difference.
      const other: Hex = `0x${code.slice(2).replace('03906000f5', '01906000f5')}`;
      if (other === code) throw new Error('the factory has no such creation');
      await chain.call(
        kind.engine === 'edr' ? 'hardhat_setCode' : 'anvil_setCode',
        CURRENT_FACTORY.address,
        other,
      );
      return other;
    },
    codeOf: async (address: Address) => addressOf(String(await chain.call('eth_getCode', address, 'latest'))),
    /** Calls a contract of `contracts/`. */
    callContract: (name: string, to: Address, functionName: string, args: readonly unknown[], value = 0n) =>
      transact({ to, value, data: encodeFunctionData({ abi: artifactOf(name).abi, functionName, args }) }),
  };
}

export type DepositChain = Awaited<ReturnType<typeof startDepositChain>>;

let salts = 0;

/** A new forwarder of a recipient. */
export function newForwarder(recipient: Address) {
  salts += 1;
  const salt = keccak256(numberToHex(salts));
  return {
    address: forwarderAddress({ recipient, salt }),
    /** The item of a sweep for one of its assets. */
    holding: (token: Address | null): SweepItem => ({ recipient, salt, token }),
  };
}

let recipients = 0;

/** An account that no test has used. */
export function newAccount(): Address {
  recipients += 1;
  return numberToHex(0xabcd_0000_0000_0000n + BigInt(recipients), { size: 20 });
}

/** Contract of `contracts/`. Source: `scripts/compile-contracts.ts`. */
export function artifactOf(name: string): { readonly abi: Abi; readonly bytecode: Hex } {
  const file = new URL(`../../generated/deposit-tests/${name}.json`, import.meta.url);
  return JSON.parse(readFileSync(file, 'utf8'));
}
