import { type Address, encodeFunctionData, erc20Abi, type Hex, numberToHex } from 'viem';
import { uintOf } from '../../db/columns.ts';
import { DELEGATION_PREFIX, minimalProxyTarget } from '../../evm/address.ts';
import { textOf, uint8Of, wordOf } from '../../evm/call-result.ts';
import { balanceCall, ownerCall } from '../../evm/contract-calls.ts';
import type { ChainClient } from '../../node/client.ts';
import { contractRefusal } from '../../node/contract-refusal.ts';
import { AnswerTooLarge } from '../../node/transport/errors.ts';
import type { DirtyEntry } from '../schema/dirty-state.ts';

const NAME = encodeFunctionData({ abi: erc20Abi, functionName: 'name' });
const SYMBOL = encodeFunctionData({ abi: erc20Abi, functionName: 'symbol' });
const DECIMALS = encodeFunctionData({ abi: erc20Abi, functionName: 'decimals' });
const TOTAL_SUPPLY = encodeFunctionData({ abi: erc20Abi, functionName: 'totalSupply' });

/** State already in the index, which need not be read again. */
export interface KnownState {
  contracts: ReadonlySet<Address>;
  readTokens: ReadonlySet<Address>;
}

/** State on the chain. A value is null when the contract refuses it or answers with something invalid. */
export type OnChainState =
  | {
      kind: 'coin';
      address: Address;
      balance: bigint;
      isContract: boolean;
      /** Target of a minimal proxy; null when it is not a proxy or its code was not read. */
      implementation: Address | null;
    }
  | { kind: 'supply'; address: Address; totalSupply: bigint | null }
  | ({ kind: 'token'; address: Address; totalSupply: bigint | null } & TokenFacts)
  | { kind: 'balance'; token: Address; holder: Address; tokenId: string; value: bigint | null }
  | { kind: 'instance'; token: Address; tokenId: string; owner: Address | null };

interface TokenFacts {
  name: string | null;
  symbol: string | null;
  decimals: number | null;
}

/** Stands for code that is too large to be read. `INVALID`, so it is neither a proxy nor a delegation. */
const LARGE_CODE = '0xfe';

/** Handler for `catch`. @throws every other failure: code that is not known counts neither as code nor as none */
function largeCode(error: unknown): Hex {
  if (error instanceof AnswerTooLarge) return LARGE_CODE;
  throw error;
}

/**
 * Gas of a call in the first read of an entry, and in later ones. Nodes allow 50 million by default, which takes about
 * a second (Decision 308).
 */
const FIRST_GAS = 1_000_000;
const LATER_GAS = 10_000_000;

/**
 * Creates a reader of dirty entries at one block. Entries read in the same tick share requests.
 * The reader rejects with the node's error when the node gives no state, and when a first read needs more gas; never
 * because of another answer of a contract.
 */
export function stateReader(client: ChainClient, blockNumber: number, known: KnownState) {
  const block = numberToHex(blockNumber);

  async function call({ attempts }: DirtyEntry, to: Address, data: Hex): Promise<Hex | null> {
    const gas = numberToHex(attempts === 0 ? FIRST_GAS : LATER_GAS);
    try {
      return await client.request({ method: 'eth_call', params: [{ to, data, gas }, block] });
    } catch (error) {
      const refusal = contractRefusal(error);
      if (refusal === undefined || (refusal === 'out of gas' && attempts === 0)) throw error;
      return null;
    }
  }

  async function coin(address: Address): Promise<OnChainState> {
    const isKnown = known.contracts.has(address);
    const [balance, code] = await Promise.all([
      client.request({ method: 'eth_getBalance', params: [address, block] }),
      isKnown ? '0x' : client.request({ method: 'eth_getCode', params: [address, block] }).catch(largeCode),
    ]);
    // EIP-7702: delegated code does not make an account a contract.
    const hasCode = code !== '0x' && !code.toLowerCase().startsWith(DELEGATION_PREFIX);
    return {
      kind: 'coin',
      address,
      balance: BigInt(balance),
      isContract: isKnown || hasCode,
      implementation: minimalProxyTarget(code),
    };
  }

  async function token(entry: DirtyEntry): Promise<OnChainState> {
    const { address } = entry;
    if (known.readTokens.has(address)) {
      return { kind: 'supply', address, totalSupply: wordOf(await call(entry, address, TOTAL_SUPPLY)) };
    }
    const [name, symbol, decimals, supply] = await Promise.all(
      [NAME, SYMBOL, DECIMALS, TOTAL_SUPPLY].map(data => call(entry, address, data)),
    );
    return {
      kind: 'token',
      address,
      name: textOf(name),
      symbol: textOf(symbol),
      decimals: uint8Of(decimals),
      totalSupply: wordOf(supply),
    };
  }

  async function balance(entry: DirtyEntry): Promise<OnChainState> {
    const { address, holder, tokenId } = entry;
    const account = holder === '' ? address : holder;
    const data = balanceCall(account, tokenId === '' ? null : uintOf(tokenId));
    return {
      kind: 'balance',
      token: address,
      holder: account,
      tokenId,
      value: wordOf(await call(entry, address, data)),
    };
  }

  async function instance(entry: DirtyEntry): Promise<OnChainState> {
    const { address, tokenId } = entry;
    const word = wordOf(await call(entry, address, ownerCall(uintOf(tokenId))));
    const owner: Address | null =
      word === null || word === 0n ? null : `0x${word.toString(16).padStart(64, '0').slice(24)}`;
    return { kind: 'instance', token: address, tokenId, owner };
  }

  return (entry: DirtyEntry): Promise<OnChainState> => {
    switch (entry.kind) {
      case 'coin':
        return coin(entry.address);
      case 'token':
        return token(entry);
      case 'balance':
        return balance(entry);
      case 'instance':
        return instance(entry);
    }
  };
}
