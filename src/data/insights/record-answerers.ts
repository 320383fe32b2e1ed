import type { InsightsSchemas } from '../../contract/contracts/insights.ts';
import type { Caller } from '../../contract/contracts/operations.ts';
import type {
  InsightsBodyOf,
  InsightsRequestOf,
  NftTransfersRequest,
} from '../backends/port/insights-backend.ts';
import { UNKNOWN } from '../backends/port/resolved-input.ts';
import type { ChainsAnswer } from '../fallback/ask-chains.ts';
import { checkTokensNamed } from './limits.ts';
import { isResolved, namedInput, resolvedBody } from './resolve-input.ts';
import { chainsAskedFor, hostOf, selectChains } from './select-chains.ts';
import type { InsightsOptions, ServeInsights } from './serve-through-cache.ts';

/** Values of `status` for metadata that may still arrive (Decision 91). */
const PASSING: readonly string[] = ['pending', 'timeout', 'unreachable'];

/** True for metadata that may change without a new block. */
export function mayStillArrive({ status }: { readonly status?: string }): boolean {
  return status !== undefined && PASSING.includes(status);
}

type NamedChains = { readonly chain_id?: readonly number[]; readonly chain?: readonly number[] };

/** Handlers of the operations on tokens, NFTs and ABIs. */
export function recordAnswerers(configured: InsightsOptions, serve: ServeInsights) {
  return {
    /** Resolves a text. Without a named chain, the next chain is asked while nothing is found (Decision 212). */
    async resolveInput({ path, query }: InsightsRequestOf<'resolveInput'>, caller: Caller) {
      const input = namedInput(path.input);
      const { chains, untilSome } = chainsInTurn(query, caller, isResolved);
      return serve(caller, {
        operation: 'resolveInput',
        chains: input === null ? chains.slice(0, 1) : chains,
        identity: { input },
        ask: ({ insights }, ask) =>
          input === null ? Promise.resolve(UNKNOWN) : insights?.resolveInput?.(input, ask),
        ...untilSome,
        namesFailed: true,
        bodyOf: resolvedBody,
      });
    },

    /** Tokens with a symbol. Without a named chain, the next chain is asked while there is none (Decision 88). */
    async lookUpTokens(request: InsightsRequestOf<'lookUpTokens'>, caller: Caller) {
      const { chains, untilSome } = chainsInTurn<Tokens>(request.query, caller, hasSome);
      return serve(caller, {
        operation: 'lookUpTokens',
        chains,
        identity: { symbols: distinctLowerCase(request.query.symbol)?.sort() },
        ask: (backend, ask) => backend.insights?.lookUpTokens?.(request, ask),
        ...untilSome,
        bodyOf: asked => ({ data: byChain(asked) }),
      });
    },

    /** Token prices. Without a named chain, the next chain is asked while there is none (Decision 89). */
    async getTokenPrices(request: InsightsRequestOf<'getTokenPrices'>, caller: Caller) {
      const { query } = request;
      checkTokensNamed(query);
      const { chain: _, chain_id: __, address, symbol, ...others } = query;
      const { chains, untilSome } = chainsInTurn<Prices>(query, caller, hasSome);
      return serve(caller, {
        operation: 'getTokenPrices',
        chains,
        // The order is part of the identity: prices come in the order of the request.
        identity: { addresses: distinctLowerCase(address), symbols: distinctLowerCase(symbol), ...others },
        ask: (backend, ask) => backend.insights?.getTokenPrices?.(request, ask),
        ...untilSome,
        bodyOf: asked => ({ data: byChain(asked) }),
      });
    },

    /** Transfers of all NFTs of a contract or of one NFT, the latest first (Decision 90). */
    async listNftTransfers(
      operation: 'listNftTransfers' | 'listTokenNftTransfers',
      request: NftTransfersRequest,
      caller: Caller,
    ) {
      const { chain: _, chain_id: __, ...others } = request.query;
      const { contract_address: contract, token_id: tokenId } = request.path;
      return serve(caller, {
        operation,
        chains: chainsAskedFor(configured, request.query, caller, 'missing'),
        identity: { contract: contract.toLowerCase(), tokenId, ...others },
        unknown: 'missing',
        ask: (backend, ask) => backend.insights?.listNftTransfers?.(request, ask),
        bodyOf: ({ parts }) => ({ data: latestFirst(parts.flatMap(({ result }) => result)) }),
        isUnsettled: ({ data }) => data.some(one => mayStillArrive(one.nft_metadata ?? {})),
      });
    },

    /** ABI from the first chain that has one (Decision 92). */
    async getContractAbi(request: InsightsRequestOf<'getContractAbi'>, caller: Caller) {
      const { chains } = selectChains(configured, {
        query: request.query,
        host: hostOf(caller),
        unknown: 'missing',
      });
      return serve(caller, {
        operation: 'getContractAbi',
        chains,
        identity: { contract: request.path.contract_address.toLowerCase() },
        unknown: 'missing',
        ask: (backend, ask) => backend.insights?.getContractAbi?.(request, ask),
        untilSome: () => true,
        bodyOf: ({ parts }): InsightsBodyOf<'getContractAbi'> => parts[0]?.result ?? [],
      });
    },
  };

  function chainsInTurn<Result>(query: NamedChains, caller: Caller, isSome: (result: Result) => boolean) {
    const { chains, isNamed } = selectChains(configured, { query, host: hostOf(caller) });
    return { chains, untilSome: isNamed ? {} : { untilSome: isSome } };
  }
}

type Tokens = readonly InsightsSchemas['FoundToken'][];
type Prices = readonly InsightsSchemas['TokenPrice'][];

function hasSome(found: readonly unknown[]): boolean {
  return found.length > 0;
}

/** Lower-case values without duplicates, because addresses and symbols ignore letter case. */
export function distinctLowerCase(values: readonly string[] | undefined): string[] | undefined {
  return values === undefined ? undefined : [...new Set(values.map(value => value.toLowerCase()))];
}

/** Puts records in the order of the chains. One back end may answer for chains that are not adjacent. */
export function byChain<Item extends { readonly chain_id: number }>({
  chains,
  parts,
}: ChainsAnswer<readonly Item[]>) {
  const found = parts.flatMap(({ result }) => result);
  return chains.flatMap(({ id }) => found.filter(one => one.chain_id === id));
}

function latestFirst(transfers: readonly InsightsSchemas['NftTransfer'][]): InsightsSchemas['NftTransfer'][] {
  return transfers.toSorted(
    (a, b) =>
      Number(b.block_number) - Number(a.block_number) || b.chain_id - a.chain_id || b.log_index - a.log_index,
  );
}
