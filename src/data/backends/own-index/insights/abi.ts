import type { Abi, Address } from 'viem';
import type { InsightsAnswers } from '../../port/insights-backend.ts';
import { resolveAddress } from '../source/names.ts';
import { type IndexSource, missingFrom } from '../source/source.ts';

/** ABI items that a contract has at most once. Those of an implementation do not apply to its proxy. */
const SINGLE: readonly string[] = ['constructor', 'fallback', 'receive'];

/** Known ABI of a contract. A proxy's ABI includes that of its implementation (Decision 92). */
export function abiAnswers(source: IndexSource): Pick<InsightsAnswers, 'getContractAbi'> {
  const { abis, implementations } = source.reader;
  const knownAbi = (address: Address | undefined): Abi =>
    (address === undefined ? undefined : abis.knownContract(address)?.abi) ?? [];
  return {
    async getContractAbi({ path }) {
      const address = await resolveAddress(source, path.contract_address);
      const own = knownAbi(address);
      const behind = knownAbi((await implementations([address])).get(address));
      const abi = merged(own, behind);
      if (abi.length === 0) throw missingFrom(source, `ABI of ${path.contract_address}`);
      return abi.map(item => ({ ...item }));
    },
  };
}

/** Merges two ABIs. Items in both, such as an error, are listed once. */
function merged(own: Abi, behind: Abi): Abi {
  const listed = new Set(own.map(item => JSON.stringify(item)));
  return [...own, ...behind.filter(item => !SINGLE.includes(item.type) && !listed.has(JSON.stringify(item)))];
}
