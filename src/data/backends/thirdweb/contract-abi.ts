import type { InsightsSchemas } from '#contract/contracts/insights.ts';
import { isObject } from '#lib/json.ts';
import { parseJson } from '#lib/json-text/lossless-json.ts';
import { isOfKind, notFound } from '../port/backend-error.ts';
import type { InsightsAnswers } from '../port/insights-backend.ts';
import { listOf, UnreadableRecord } from '../upstream-json/fields.ts';
import { read, segment, type ThirdwebSource } from './source.ts';

/** ABIs of contracts. An answer does not name its chain, so chains are asked one by one. */
export function abiAnswers(source: ThirdwebSource): Required<Pick<InsightsAnswers, 'getContractAbi'>> {
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

type ContractAbi = InsightsSchemas['ContractAbi'];

/**
 * Reads the entries of an ABI. In practice the body is a list, although the contract says object. Some services wrap it
 * or send its JSON text. @throws UnreadableRecord for anything else.
 */
function contractAbi(body: unknown): ContractAbi {
  const entries = entriesOf(body);
  if (!entries.every(isObject)) throw new UnreadableRecord('abi', 'has an entry that is not an object');
  return entries.map(entry => ({ ...entry }));
}

function entriesOf(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return listOf(value);
  if (typeof value === 'string') return entriesOf(parsed(value));
  if (isObject(value) && (value.abi ?? value.data) !== undefined) return entriesOf(value.abi ?? value.data);
  throw new UnreadableRecord('abi', 'is not a list');
}

function parsed(text: string): unknown {
  try {
    // JSON text inside JSON text is no ABI. Accepting it would recurse without end.
    const value = parseJson(text);
    return typeof value === 'string' ? null : value;
  } catch (cause) {
    throw new UnreadableRecord('abi', 'is not JSON', { cause });
  }
}
