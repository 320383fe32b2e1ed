import { readFileSync } from 'node:fs';
import {
  type Abi,
  type Address,
  encodeDeployData,
  encodeFunctionData,
  type Hex,
  labelhash,
  namehash,
  numberToHex,
  zeroHash,
} from 'viem';
import { fungibleAbi, nameRegistryAbi } from '../../../src/devnet/activity/abis.ts';
import { creationCode } from '../../../src/devnet/activity/artifacts.ts';
import { record, text } from '../../../test/lab/json.ts';
import { addressOf, type TestPaymentChain } from '../../../test/lab/payment-chain.ts';

/** Tokens that break the habits of ERC-20, in the order of `Oddity` in `OddToken.sol`. */
const ODDITIES = [
  'fee on transfer',
  'no return value',
  'an extra topic',
  'no decimals',
  '255 decimals',
  'a name of a megabyte',
  'metadata that reverts',
  'metadata that burns all gas',
  'a name that is no text',
] as const;
type Oddity = (typeof ODDITIES)[number];

/** Contracts of a stranger, and the account that calls them. */
export interface Stranger {
  readonly account: Address;
  /** `Attacker.sol`, with a balance of the chain's token. */
  readonly attacker: Address;
  readonly tokens: ReadonlyMap<Oddity, Address>;
  /** Registry of names, and a name in it whose resolver asks its callers for URLs. */
  readonly registry: Address;
  readonly name: string;
  /** Sends a transaction to the pool and returns its hash. */
  send(to: Address, data: Hex, gas?: number): Promise<Hex>;
  /** Limits calls as other nodes do, and with them blocks. */
  limitGas(): Promise<void>;
  /** Sends coins to the pool and returns the hash. */
  sendCoins(to: string, amount: bigint): Promise<Hex>;
}

/** Account of the stranger. The payers of the shops have lower indices. */
const ACCOUNT = 15;
/** Room for a block of 18,000 transfers, and for a transaction whose trace has 200 MB. */
const BLOCK_GAS = 4_000_000_000;
/** Limit of other nodes for a call; anvil lets a call use as much as a block. Source: geth, `--rpc.gascap`. */
const CALL_GAS = 50_000_000;
const GAS = 10_000_000;
const BALANCE = 10n ** 14n;
const NAME = ['asking', 'eth'] as const;

/** Deploys the stranger's contracts. The resolver sends its callers to `urls`. */
export async function deployStranger(chain: TestPaymentChain, urls: readonly string[]): Promise<Stranger> {
  const from = chain.accounts[ACCOUNT];
  if (from === undefined) throw new Error('the chain has no account for the stranger');
  await chain.call('evm_setBlockGasLimit', numberToHex(BLOCK_GAS));
  await chain.mine();

  async function transact(fields: object, gas = GAS): Promise<Hex> {
    return hexOf(await chain.call('eth_sendTransaction', { from, gas: numberToHex(gas), ...fields }));
  }

  async function deploy({ abi, bytecode }: Compiled, args: readonly unknown[] = []): Promise<Address> {
    const hash = await transact({ data: encodeDeployData({ abi, bytecode, args }) });
    await chain.mine();
    return addressOf(text(record(await chain.call('eth_getTransactionReceipt', hash)).contractAddress));
  }

  const attacker = await deploy(compiled('Attacker'));
  const tokens = new Map<Oddity, Address>();
  for (const [index, oddity] of ODDITIES.entries())
    tokens.set(oddity, await deploy(compiled('OddToken'), [index]));
  const registry = await deploy({ abi: [], bytecode: creationCode('NameRegistry') });
  const resolver = await deploy(compiled('AskingResolver'), [urls]);
  const [label, parent] = NAME;
  const name = NAME.join('.');
  for (const call of [
    { functionName: 'setSubnodeOwner', args: [zeroHash, labelhash(parent), from] },
    { functionName: 'setSubnodeOwner', args: [namehash(parent), labelhash(label), from] },
    { functionName: 'setResolver', args: [namehash(name), resolver] },
  ] as const)
    await transact({ to: registry, data: encodeFunctionData({ abi: nameRegistryAbi, ...call }) });
  await chain.pay({ from: ACCOUNT, to: attacker, amount: BALANCE });
  await chain.mine();
  return {
    account: from,
    attacker,
    tokens,
    registry,
    name,
    send: (to, data, gas) => transact({ to, data }, gas),
    async limitGas() {
      await chain.call('evm_setBlockGasLimit', numberToHex(CALL_GAS));
      await chain.mine();
    },
    sendCoins: (to, amount) => transact({ to, value: numberToHex(amount) }),
  };
}

/** Input of a call of `Attacker.sol`. */
export function attackerInput(functionName: string, ...args: readonly unknown[]): Hex {
  return encodeFunctionData({ abi: compiled('Attacker').abi, functionName, args });
}

/** Input of a transfer of tokens. */
export function transferInput(to: string, amount: bigint): Hex {
  return encodeFunctionData({ abi: fungibleAbi, functionName: 'transfer', args: [addressOf(to), amount] });
}

interface Compiled {
  readonly abi: Abi;
  readonly bytecode: Hex;
}

/** Contract of `contracts/`. Source: `scripts/compile-contracts.ts`. */
function compiled(name: string): Compiled {
  return JSON.parse(
    readFileSync(new URL(`../../../generated/hostile/${name}.json`, import.meta.url), 'utf8'),
  );
}

function hexOf(value: unknown): Hex {
  return addressOf(text(value));
}
