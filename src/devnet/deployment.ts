import {
  type Abi,
  type Address,
  encodeDeployData,
  encodeFunctionData,
  getContractAddress,
  labelhash,
  namehash,
  parseAbi,
  zeroHash,
} from 'viem';
import {
  factoryAbi,
  fungibleAbi,
  nameRegistryAbi,
  nameResolverAbi,
  poolFactoryAbi,
  treasuryAbi,
} from './activity/abis.ts';
import type { Action, Contracts } from './activity/action.ts';
import { creationCode } from './activity/artifacts.ts';

const TOKEN_CAP = 10n ** 27n;

/**
 * Sample contract of a chain. `artifactName` is its file under `generated/devnet`; a clone has none, because it is not
 * compiled.
 */
export interface EmbeddedContract {
  name: string;
  address: Address;
  artifactName: string | null;
}

/** Sample contracts of one chain: their future addresses and the transactions that deploy them. */
export interface Deployment {
  contracts: Contracts;
  listed: EmbeddedContract[];
  /** Sent in this order, starting with the deployer's nonce 0. */
  actions: Action[];
}

/**
 * Plans the deployment. Addresses follow from the deployer's nonces, so they are known before a transaction is sent.
 * `alice` gets a name.
 */
export function planDeployment({
  index,
  address: deployer,
  alice,
}: {
  index: number;
  address: Address;
  alice: Address;
}): Deployment {
  const listed: EmbeddedContract[] = [];
  const actions: Action[] = [];

  function deploy(
    name: string,
    artifactName: string,
    creation?: { abi: Abi; args: readonly unknown[] },
  ): Address {
    const bytecode = creationCode(artifactName);
    const data = creation === undefined ? bytecode : encodeDeployData({ ...creation, bytecode });
    const address = getContractAddress({ from: deployer, nonce: BigInt(actions.length) });
    actions.push({ from: index, data, gas: 4_000_000n });
    listed.push({ name, address, artifactName });
    return address;
  }

  const named = parseAbi(['constructor(string name, string symbol)']);
  const capped = parseAbi(['constructor(string name, string symbol, uint256 cap)']);
  const behindProxy = parseAbi(['constructor(address implementation, bytes call)']);
  const stable = deploy('US Dollar Sample', 'StableToken', {
    abi: named,
    args: ['US Dollar Sample', 'USDS'],
  });
  const community = deploy('Community Token', 'CommunityToken', {
    abi: capped,
    args: ['Community Token', 'TOLL', TOKEN_CAP],
  });
  const postcards = deploy('Postcards', 'Postcards', { abi: named, args: ['Postcards', 'POST'] });
  const items = deploy('Game Items', 'GameItems', { abi: named, args: ['Game Items', 'ITEM'] });
  const splitter = deploy('Payment Splitter', 'PaymentSplitter');
  const faulty = deploy('Faulty', 'Faulty');
  const factory = deploy('Factory', 'Factory');
  const treasury = deploy('Treasury', 'Treasury');
  const initialize = encodeFunctionData({ abi: treasuryAbi, functionName: 'initialize', args: [deployer] });
  const treasuryProxy = deploy('Treasury Proxy', 'TreasuryProxy', {
    abi: behindProxy,
    args: [treasury, initialize],
  });

  // A contract's own nonce starts at 1 (EIP-161), and the clone is the first thing the factory creates.
  const treasuryClone = getContractAddress({ from: factory, nonce: 1n });
  const args = [treasury, deployer] as const;
  const clone = encodeFunctionData({ abi: factoryAbi, functionName: 'cloneTreasury', args });
  actions.push({ from: index, to: factory, data: clone, gas: 400_000n });
  listed.push({ name: 'Treasury Clone', address: treasuryClone, artifactName: null });

  const poolFactory = deploy('Pool Factory', 'PoolFactory');
  const pool = createPool('Pool', { nonce: 1n, pair: [stable, community] });

  const resolving = parseAbi(['constructor(address registry)']);
  const nameRegistry = deploy('Name Registry', 'NameRegistry');
  const resolver = deploy('Name Resolver', 'NameResolver', { abi: resolving, args: [nameRegistry] });
  const owner = { index, address: deployer };
  actions.push(...planNames({ registry: nameRegistry, resolver, alice, owner }));

  const withFees = parseAbi(['constructor(address feeRecipient)']);
  const marketplace = deploy('Marketplace', 'Marketplace', { abi: withFees, args: [deployer] });

  const wrappedCoin = deploy('Wrapped Ether', 'WrappedCoin', { abi: named, args: ['Wrapped Ether', 'WETH'] });
  const coinPool = createPool('Coin Pool', { nonce: 2n, pair: [stable, wrappedCoin] });

  /** Has the factory create a pool. `nonce` is the factory's own. */
  function createPool(name: string, { nonce, pair }: { nonce: bigint; pair: readonly [Address, Address] }) {
    const address = getContractAddress({ from: poolFactory, nonce });
    const data = encodeFunctionData({ abi: poolFactoryAbi, functionName: 'createPair', args: pair });
    actions.push({ from: index, to: poolFactory, data, gas: 2_500_000n });
    listed.push({ name, address, artifactName: 'Pool' });
    return address;
  }

  return {
    contracts: {
      stable,
      community,
      postcards,
      items,
      splitter,
      faulty,
      factory,
      treasury,
      treasuryProxy,
      treasuryClone,
      poolFactory,
      pool,
      wrappedCoin,
      coinPool,
      nameRegistry,
      marketplace,
    },
    listed,
    actions,
  };
}

/** Mints this much of a token to every account. */
export function planEndowment({
  token,
  owner,
  accounts,
  amount,
}: {
  token: Address;
  owner: number;
  accounts: readonly Address[];
  amount: bigint;
}): Action[] {
  return accounts.map(account => ({
    from: owner,
    to: token,
    data: encodeFunctionData({ abi: fungibleAbi, functionName: 'mint', args: [account, amount] }),
    gas: 100_000n,
  }));
}

/** Registers `alice.eth` for this address, as the owner of the registry's root. */
function planNames({
  registry,
  resolver,
  alice,
  owner,
}: {
  registry: Address;
  resolver: Address;
  alice: Address;
  owner: { index: number; address: Address };
}): Action[] {
  const node = namehash('alice.eth');
  const calls = [
    registered(zeroHash, 'eth'),
    registered(namehash('eth'), 'alice'),
    {
      to: registry,
      data: encodeFunctionData({ abi: nameRegistryAbi, functionName: 'setResolver', args: [node, resolver] }),
    },
    {
      to: resolver,
      data: encodeFunctionData({ abi: nameResolverAbi, functionName: 'setAddr', args: [node, alice] }),
    },
  ];
  return calls.map(call => ({ from: owner.index, ...call, gas: 100_000n }));

  function registered(parent: `0x${string}`, label: string) {
    const args = [parent, labelhash(label), owner.address] as const;
    return {
      to: registry,
      data: encodeFunctionData({ abi: nameRegistryAbi, functionName: 'setSubnodeOwner', args }),
    };
  }
}

/** A fungible token (ERC-20) among the sample contracts. */
export interface EmbeddedToken {
  address: Address;
  symbol: string;
  decimals: number;
}

/** Name, symbol and decimals of the sample tokens, by artifact. */
const TOKENS: Readonly<Record<string, Omit<EmbeddedToken, 'address'>>> = {
  StableToken: { symbol: 'USDS', decimals: 6 },
  CommunityToken: { symbol: 'TOLL', decimals: 18 },
};

/** The tokens among sample contracts, the dollar-like one first. */
export function tokensAmong(contracts: readonly EmbeddedContract[]): EmbeddedToken[] {
  return contracts.flatMap(({ address, artifactName }) => {
    const token = TOKENS[artifactName ?? ''];
    return token === undefined ? [] : [{ address, ...token }];
  });
}
