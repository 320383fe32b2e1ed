import type { Address } from 'viem';
import type { ExplorerSchemas } from '#contract/contracts/explorer.ts';
import type { AddressFigures, VerifiedContract } from '#indexer/read/contracts.ts';
import { DAY_MS } from '#lib/clock.ts';
import type { Answers } from '../port/backend.ts';
import type { CursorPosition } from '../port/cursor.ts';
import { checksummed } from './parts/format.ts';
import { loadParties, type Parties } from './parts/parties.ts';
import { countKey, cursorAddress, type Keys, wholeKeys } from './source/position.ts';
import {
  assertCaughtUp,
  assertNotCutOff,
  assertWhole,
  cursorFields,
  type IndexSource,
  PAGE_SIZE,
} from './source/source.ts';

/** Maximum number of contracts counted for a request (Decision 205). */
const MAX_COUNTED = 100_000;

/** Contracts on the chain whose sources the operator provides, and counters of contracts. */
export function verifiedContractAnswers(source: IndexSource) {
  const { reader } = source;
  return {
    async listSmartContracts({ query }, { position }) {
      assertCaughtUp(source);
      const after = contractAfter(position, query);
      const found = await reader.verifiedContracts({
        ...(query.q === undefined ? {} : { text: query.q }),
        ...(query.filter === undefined ? {} : { language: query.filter }),
      });
      const rest = after === undefined ? found : found.filter(contract => isBehind(contract, after));
      const contracts = rest.slice(0, PAGE_SIZE);
      const hasMore = rest.length > contracts.length;
      assertNotCutOff(source, { hasMore });
      const addresses = contracts.map(({ address }) => address);
      const [parties, figures] = await Promise.all([
        loadParties(source, { addresses }),
        reader.addressFigures(addresses),
      ]);
      const last = contracts.at(-1);
      return {
        body: {
          items: contracts.map(contract => contractItem(contract, { source, parties, figures })),
          next_page_params: hasMore && last !== undefined ? cursorOf(source, last, contracts.length) : null,
        },
      };
    },

    async getSmartContractCounters() {
      assertWhole(source);
      const [[head], totals, verified] = await Promise.all([
        reader.recentLoad(1),
        reader.totals(),
        reader.verifiedContracts(),
      ]);
      const time = (head?.timestamp ?? 0) - DAY_MS;
      // Without traces, only contracts created directly by a transaction are known.
      const areAllKnown = totals.untracedBlocks === 0;
      const created = areAllKnown ? await reader.createdSince({ time, most: MAX_COUNTED }) : null;
      return {
        body: {
          smart_contracts: areAllKnown ? totals.contracts.toString() : null,
          new_smart_contracts_24h: created?.toString() ?? null,
          verified_smart_contracts: verified.length.toString(),
          new_verified_smart_contracts_24h: null,
        },
      };
    },
  } satisfies Answers;
}

interface Surroundings {
  readonly source: IndexSource;
  readonly parties: Parties;
  readonly figures: ReadonlyMap<Address, AddressFigures>;
}

function contractItem(
  { address, abi, source: { compilerVersion, language, settings } }: VerifiedContract,
  { source, parties, figures }: Surroundings,
): ExplorerSchemas['SmartContractItem'] {
  const { balance = 0n, transactionCount = 0 } = figures.get(address) ?? {};
  return {
    address: parties.address(address),
    coin_balance: balance.toString(),
    compiler_version: compilerVersion,
    has_constructor_args: abi.some(item => item.type === 'constructor' && item.inputs.length > 0),
    language,
    license_type: null,
    market_cap: null,
    optimization_enabled: isOptimized(settings.optimizer),
    // An index that starts after the first block has not counted all.
    transactions_count: source.firstBlock() > 0 ? null : transactionCount,
    verified_at: null,
  };
}

function isOptimized(optimizer: unknown): boolean | null {
  if (typeof optimizer !== 'object' || optimizer === null || !('enabled' in optimizer)) return null;
  return typeof optimizer.enabled === 'boolean' ? optimizer.enabled : null;
}

type ContractPosition = Pick<VerifiedContract, 'address' | 'blockNumber'>;

function isBehind({ address, blockNumber }: ContractPosition, after: ContractPosition): boolean {
  return blockNumber < after.blockNumber || (blockNumber === after.blockNumber && address > after.address);
}

function cursorOf(source: IndexSource, { address, blockNumber }: ContractPosition, itemCount: number) {
  const at = { block_number: blockNumber, hash: checksummed(address) };
  return { ...at, items_count: itemCount, ...cursorFields(source, at) };
}

/** Reads the position of the list. Keys in other back ends' positions are no position here. */
function contractAfter(position: CursorPosition | undefined, query: Keys): ContractPosition | undefined {
  const keys = wholeKeys({ position, query }, ['block_number', 'hash'], ['smart_contract_id']);
  if (keys === undefined) return undefined;
  return { blockNumber: countKey(keys.block_number), address: cursorAddress(keys.hash) };
}
