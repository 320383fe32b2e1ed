import { readFileSync } from 'node:fs';
import { didYouMean } from '#lib/broken-rule.ts';

const MAX_CANDIDATES = 8;
const MAX_SPELLINGS = 3;

/** Common names that are neither a chain's name nor a word of it, in the form that `plain` returns. */
export const ALIASES: ReadonlyMap<string, number> = new Map([
  ['eth', 1],
  ['mainnet', 1],
  ['ethereum mainnet', 1],
  ['optimism', 10],
  ['etc', 61],
  ['xdai', 100],
  ['gnosis chain', 100],
  ['polygon', 137],
  ['matic', 137],
  ['filecoin', 314],
  ['zksync', 324],
  ['worldchain', 480],
  ['hyperliquid', 999],
  ['immutable', 13_371],
  ['arbitrum', 42_161],
  ['arbitrum one', 42_161],
  ['arb', 42_161],
  ['nova', 42_170],
  ['sepolia', 11_155_111],
  ['optimism sepolia', 11_155_420],
]);

/** The chain that the text names, or a sentence on why it names none or several. */
export type ChainChoice = { chain: KnownChain } | { fault: string };

/**
 * Looks a chain up by id, by its whole name (with or without "Mainnet"), by an alias, by whole words of its name, and
 * by prefixes of them. The first rule with a match decides. Several matches are a fault.
 */
export function findChain(text: string, chains: readonly KnownChain[]): ChainChoice {
  if (/^\d+$/.test(text)) {
    const chain = chains.find(({ id }) => String(id) === text);
    return chain === undefined ? { fault: `no known chain has the id ${text}` } : { chain };
  }
  const wanted = plain(text);
  if (wanted === '') return { fault: `"${text}" is not a name` };
  const words = wanted.split(' ');
  const ways: ((chain: KnownChain) => boolean)[] = [
    ({ name }) => plain(name) === wanted || plain(name) === `${wanted} mainnet`,
    ({ id }) => ALIASES.get(wanted) === id,
    ({ name }) => words.every(word => plain(name).split(' ').includes(word)),
    ({ name }) =>
      words.every(start =>
        plain(name)
          .split(' ')
          .some(word => word.startsWith(start)),
      ),
  ];
  const matches = ways.map(way => chains.filter(way)).find(some => some.length > 0) ?? [];
  const [chain, ...others] = matches;
  if (chain === undefined)
    return { fault: `no known chain is called "${text}"${suggestion(wanted, chains)}` };
  return others.length === 0 ? { chain } : { fault: `"${text}" may be any of: ${listed(matches)}` };
}

/** True when the text can mean no other chain: its id, its alias or its whole name, ignoring case and separators. */
export function isUnmistakable(text: string, { id, name }: KnownChain): boolean {
  return text === String(id) || ALIASES.get(plain(text)) === id || plain(text) === plain(name);
}

/** Normalizes a name for comparison: lower case, and one space between words. */
function plain(name: string): string {
  return name
    .toLowerCase()
    .replaceAll(/[\s_-]+/g, ' ')
    .trim();
}

/** Suggests up to three known chains with a similar spelling. */
function suggestion(wanted: string, chains: readonly KnownChain[]): string {
  const idsByName = new Map(ALIASES);
  for (const { id, name } of chains) idsByName.set(plain(name), id);
  const near = new Set<number | undefined>();
  while (near.size < MAX_SPELLINGS) {
    const name = didYouMean(wanted, [...idsByName.keys()]);
    if (name === undefined) break;
    near.add(idsByName.get(name));
    idsByName.delete(name);
  }
  const meant = chains.filter(({ id }) => near.has(id));
  return meant.length === 0 ? '' : `; did you mean ${listed(meant)}?`;
}

function listed(chains: readonly KnownChain[]): string {
  const shown = chains.slice(0, MAX_CANDIDATES).map(({ id, name }) => `${name} (${id})`);
  const hidden = chains.length - shown.length;
  return shown.join(', ') + (hidden > 0 ? ` and ${hidden} more` : '');
}

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
  return rowsOf('known-chains.csv').map(chainOf);
}

/** Nodes and token for payments on a chain, from payment-chains.csv, which names its sources. */
export interface PaymentTerms {
  /** Addresses of public nodes, in the order of trying. */
  nodes: readonly string[];
  /** Contract of USDC, which has 6 decimals. */
  usdc: string;
}

/** Reads nodes and USDC of the chains for which they are known, by id. */
export function readPaymentTerms(): ReadonlyMap<number, PaymentTerms> {
  return new Map(
    rowsOf('payment-chains.csv').map(row => {
      const [id = '', usdc = '', nodes = ''] = row.split(',');
      return [Number(id), { usdc, nodes: nodes.split(' ') }];
    }),
  );
}

/** Rows of a table in this folder, without comments and header. */
function rowsOf(file: string): string[] {
  const lines = readFileSync(new URL(file, import.meta.url), 'utf8')
    .trimEnd()
    .split('\n');
  return lines.filter(line => !line.startsWith('#')).slice(1);
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
