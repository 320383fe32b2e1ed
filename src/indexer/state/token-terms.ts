import { bytesColumn, type Column } from '../../db/columns.ts';
import { insertRows, placeholders } from '../../db/insert.ts';
import type { Handle } from '../../db/open.ts';
import { searchKey } from '../schema/search-key.ts';
import type { OnChainState } from './read-state.ts';

type TokenReading = Extract<OnChainState, { kind: 'token' }>;

/** Stores under which terms the tokens among the readings are found, in place of those from an earlier reading. */
export async function writeTerms(handle: Handle, readings: readonly OnChainState[]): Promise<void> {
  const tokens = readings.filter(reading => reading.kind === 'token');
  if (tokens.length === 0) return;
  await handle.raw(
    `delete from token_terms where token in (${placeholders(tokens.length)})`,
    tokens.map(({ address }) => bytesColumn(address)),
  );
  await insertRows(handle, { table: 'token_terms', columns: ['term', 'token'] }, tokens.flatMap(termRows));
}

/** A token that is called like its symbol is found once. */
function termRows({ address, name, symbol }: TokenReading): Column[][] {
  const terms = new Set([name, symbol].map(text => (text === null ? '' : searchKey(text))));
  return [...terms].filter(term => term !== '').map(term => [term, bytesColumn(address)]);
}
