import { readFileSync } from 'node:fs';

/** One chain of known-chains.csv. The file names its source. */
export interface KnownChain {
  id: number;
  name: string;
  /** Symbol of the native coin. */
  symbol: string;
  /** Address of the Blockscout API, without a trailing slash. */
  url: string;
  testnet: boolean;
  /** True when Blockscout's documentation listed the chain for api.blockscout.com. */
  gateway: boolean;
}

/** Reads the known chains, by ascending id. @throws Error on a row with missing or additional columns */
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
    throw new Error(`known-chains.csv has a row that is not a chain: ${row}`);
  }
  return { id: Number(id), name, symbol, url, testnet: truth(testnet), gateway: truth(gateway) };
}

function truth(text: string): boolean {
  if (text !== 'true' && text !== 'false')
    throw new Error(`known-chains.csv has "${text}" for true or false`);
  return text === 'true';
}
