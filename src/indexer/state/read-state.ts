import { type Address, encodeFunctionData, erc20Abi, type Hex, numberToHex } from 'viem';
import { uintOf } from '../../db/columns.ts';
import { DELEGATION_PREFIX, minimalProxyTarget } from '../../evm/address.ts';
import { textOf, uint8Of, wordOf } from '../../evm/call-result.ts';
import { balanceCall, ownerCall } from '../../evm/contract-calls.ts';
import { type ChainClient, nullIfAnswered, nullIfNotGiven } from '../../node/client.ts';
import { AnswerTooLarge } from '../../node/transport/errors.ts';
import type { Dirty } from '../schema/stale-state.ts';

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

/** Handler for `catch`. Code that the node refuses counts as none until the account changes again. */
function codeOfFailure(error: unknown): Hex {
  return error instanceof AnswerTooLarge ? LARGE_CODE : (nullIfAnswered(error) ?? '0x');
}

/** State of an entry that cannot be read: as if its contract refused. Null for coins, which every node knows. */
export function unreadableState({ kind, address, holder, tokenId }: Dirty): OnChainState | null {
  switch (kind) {
    case 'coin':
      return null;
    case 'token':
      return { kind: 'supply', address, totalSupply: null };
    case 'balance':
      return { kind, token: address, holder: holder === '' ? address : holder, tokenId, value: null };
    case 'instance':
      return { kind, token: address, tokenId, owner: null };
  }
}

/**
 * Creates a reader of dirty entries at one block. Entries read in the same tick share requests.
 * @throws when the node cannot be reached; never because of a contract's answer
 */
export function stateReader(client: ChainClient, blockNumber: number, known: KnownState) {
  const block = numberToHex(blockNumber);

  async function call(to: Address, data: Hex): Promise<Hex | null> {
    return client.request({ method: 'eth_call', params: [{ to, data }, block] }).catch(nullIfNotGiven);
  }

  async function coin(address: Address): Promise<OnChainState> {
    const isKnown = known.contracts.has(address);
    const [balance, code] = await Promise.all([
      client.request({ method: 'eth_getBalance', params: [address, block] }),
      isKnown
        ? '0x'
        : client.request({ method: 'eth_getCode', params: [address, block] }).catch(codeOfFailure),
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

  async function token(address: Address): Promise<OnChainState> {
    if (known.readTokens.has(address)) {
      return { kind: 'supply', address, totalSupply: wordOf(await call(address, TOTAL_SUPPLY)) };
    }
    const [name, symbol, decimals, supply] = await Promise.all(
      [NAME, SYMBOL, DECIMALS, TOTAL_SUPPLY].map(data => call(address, data)),
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

  async function balance({ address, holder, tokenId }: Dirty): Promise<OnChainState> {
    const account = holder === '' ? address : holder;
    const data = balanceCall(account, tokenId === '' ? null : uintOf(tokenId));
    return {
      kind: 'balance',
      token: address,
      holder: account,
      tokenId,
      value: wordOf(await call(address, data)),
    };
  }

  async function instance({ address, tokenId }: Dirty): Promise<OnChainState> {
    const word = wordOf(await call(address, ownerCall(uintOf(tokenId))));
    const owner: Address | null =
      word === null || word === 0n ? null : `0x${word.toString(16).padStart(64, '0').slice(24)}`;
    return { kind: 'instance', token: address, tokenId, owner };
  }

  return (entry: Dirty): Promise<OnChainState> => {
    switch (entry.kind) {
      case 'coin':
        return coin(entry.address);
      case 'token':
        return token(entry.address);
      case 'balance':
        return balance(entry);
      case 'instance':
        return instance(entry);
    }
  };
}
