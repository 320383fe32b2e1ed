import { readFileSync } from 'node:fs';

/** One chain of known-chains.csv, where the source of the facts is named. */
export interface KnownChain {
  id: number;
  name: string;
  /** The native coin's. */
  symbol: string;
  /** Of the Blockscout API, without a slash at the end. */
  url: string;
  testnet: boolean;
  /** Whether api.blockscout.com was documented to serve the chain, too. */
  gateway: boolean;
}

/** The known chains, by ascending id. Throws on a row that does not have exactly its columns. */
export function readKnownChains(): KnownChain[] {
  const lines = readFileSync(new URL('known-chains.csv', import.meta.url), 'utf8')
    .trimEnd()
    .split('\n');
  const [, ...rows] = lines.filter(line => !line.startsWith('#'));
  return rows.map(chainOf);
}

function chainOf(row: string): KnownChain {
  const [id = '', name = '', symbol = '', url = '', testnet = '', gateway = '', ...more] = row.split(',');
  if (!/^[1-9]\d*$/.test(id) || name === '' || symbol === '' || more.length > 0) {
    throw new Error(`known-chains.csv has a row that is no chain: ${row}`);
  }
  return { id: Number(id), name, symbol, url, testnet: truth(testnet), gateway: truth(gateway) };
}

function truth(text: string): boolean {
  if (text !== 'true' && text !== 'false')
    throw new Error(`known-chains.csv has "${text}" for true or false`);
  return text === 'true';
}
