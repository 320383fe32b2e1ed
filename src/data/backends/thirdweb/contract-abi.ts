import { isOfKind, notFound } from '../port/backend-error.ts';
import type { InsightsAnswers } from '../port/insights-backend.ts';
import { contractAbi } from './normalise/contract-abi.ts';
import { type InsightSource, read, segment } from './request/source.ts';

/** ABIs of contracts. An answer does not say whose chain's contract it is about, so chains are asked one by one. */
export function abiAnswers(source: InsightSource): Required<Pick<InsightsAnswers, 'getContractAbi'>> {
  return {
    async getContractAbi({ path }, { chainIds, signal }) {
      let missed: unknown;
      for (const chainId of chainIds) {
        const get = {
          operation: 'getContractAbi',
          path: `/contracts/abi/${segment(path.contract_address)}`,
          ask: { chainIds: [chainId], signal },
          missing: 'the contract',
        } as const;
        try {
          const abi = await read(source, get, contractAbi);
          if (abi.length > 0) return abi;
        } catch (error) {
          if (!isOfKind(error, 'not_found')) throw error;
          missed = error;
        }
      }
      throw missed ?? notFound('the ABI');
    },
  };
}
