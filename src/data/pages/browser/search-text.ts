/** Kinds of records that a text can name exactly. A `hash` is of a block or of a transaction. */
type NamedKind = 'address' | 'token' | 'instance' | 'transaction' | 'block' | 'hash';

/** Text of a search, as the API reads it, and what it names. */
export interface SearchText {
  /** Hash and address with 0x, number without separators, or the text itself. */
  readonly text: string;
  /** Undefined for a text that may be a name. */
  readonly kind?: NamedKind;
  /** Id of an NFT, in decimal. */
  readonly instanceId?: string;
  /** Chain that the text names. */
  readonly chainId?: number;
  /** Host of another explorer whose address was pasted. */
  readonly host?: string;
}

/** Chains of other explorers, by the host of their pages. Source: these sites. */
const CHAINS_BY_HOST: Readonly<Record<string, number>> = {
  'etherscan.io': 1,
  'eth.blockscout.com': 1,
  'sepolia.etherscan.io': 11_155_111,
  'eth-sepolia.blockscout.com': 11_155_111,
  'holesky.etherscan.io': 17_000,
  'hoodi.etherscan.io': 560_048,
  'optimistic.etherscan.io': 10,
  'explorer.optimism.io': 10,
  'optimism.blockscout.com': 10,
  'bscscan.com': 56,
  'testnet.bscscan.com': 97,
  'gnosisscan.io': 100,
  'gnosis.blockscout.com': 100,
  'polygonscan.com': 137,
  'polygon.blockscout.com': 137,
  'explorer.zksync.io': 324,
  'zksync.blockscout.com': 324,
  'basescan.org': 8453,
  'base.blockscout.com': 8453,
  'sepolia.basescan.org': 84_532,
  'base-sepolia.blockscout.com': 84_532,
  'arbiscan.io': 42_161,
  'arbitrum.blockscout.com': 42_161,
  'celoscan.io': 42_220,
  'celo.blockscout.com': 42_220,
  'snowtrace.io': 43_114,
  'lineascan.build': 59_144,
  'blastscan.io': 81_457,
  'scrollscan.com': 534_352,
  'scroll.blockscout.com': 534_352,
};

const HEX_HASH = /^(?:0x)?[0-9a-f]{64}$/i;
const HEX_ADDRESS = /^(?:0x)?[0-9a-f]{40}$/i;
/** Block number in hexadecimal: short enough to be exact. */
const HEX_NUMBER = /^0x[0-9a-f]{1,12}$/i;
/** Digits with the separators of printed numbers. */
const NUMBER = /^#?\d{1,3}(?:[,'’_\u00a0\u202f ]\d{3})+$|^#?\d+$/;
const NUMBER_CHARACTERS = 15;
/** Word before a value: `block 1300`, `tx: 0x…`. */
const LABELLED = /^(?:block|tx|txn|transaction|hash|address|token|contract|account)\s*[:#]?\s*(?=[#0-9])/i;
/** CAIP-10 and CAIP-19 style prefix. Source: CAIP-2. */
const CAIP = /^eip155:(?<chain>\d{1,15})[:/](?<rest>.+)$/i;
const LOOKS_LIKE_ADDRESS_OF_PAGE = /^(?:https?:\/\/|(?:[a-z0-9-]+\.)+[a-z]{2,}\/)/i;
const PATH =
  /\/(?<kind>tx|block|blocks|address|token|nft)\/(?<value>[^/?#]+)(?:\/(?:instance\/)?(?<id>\d{1,78}))?/i;
const OWN_CHAIN = /^\/chain\/(?<chain>\d{1,15})(?=\/)/;
/** Around a pasted text: spaces, quotes, brackets, and marks without width. */
const AROUND =
  /^[\s"'`“”‘’<>()[\]\u200b-\u200f\u2060\ufeff]+|[\s"'`“”‘’<>()[\],;\u200b-\u200f\u2060\ufeff]+$/gu;

/**
 * Reads a text that was typed or pasted: numbers as pages print them, hashes and addresses without 0x, and addresses of
 * pages of this and of other explorers, with or without a chain (Decision 434).
 */
export function readSearch(typed: string): SearchText {
  const text = typed.replaceAll(AROUND, '');
  const { chain, rest } = CAIP.exec(text)?.groups ?? {};
  if (chain !== undefined && rest !== undefined) {
    const value = namedValue(rest);
    return value === undefined ? { text } : { ...value, chainId: Number(chain) };
  }
  return pageAddress(text) ?? namedValue(text.replace(LABELLED, '')) ?? { text };
}

/** Reads a value alone; undefined when it may be a name. */
function namedValue(text: string): SearchText | undefined {
  if (HEX_HASH.test(text)) return { text: withPrefix(text), kind: 'hash' };
  if (HEX_ADDRESS.test(text)) return { text: withPrefix(text), kind: 'address' };
  const digits = HEX_NUMBER.test(text)
    ? BigInt(text.toLowerCase()).toString()
    : NUMBER.test(text)
      ? text.replaceAll(/\D/g, '')
      : '';
  const number = digits.replace(/^0+(?=\d)/, '');
  return number === '' || number.length > NUMBER_CHARACTERS ? undefined : { text: number, kind: 'block' };
}

/** Reads the address of a page of an explorer, or its path; undefined for another text. */
function pageAddress(text: string): SearchText | undefined {
  const isPath = text.startsWith('/');
  if (!isPath && !LOOKS_LIKE_ADDRESS_OF_PAGE.test(text)) return undefined;
  const url = urlOf(isPath ? `http://path${text}` : /^https?:/i.test(text) ? text : `https://${text}`);
  if (url === undefined) return undefined;
  // Some explorers keep the page behind a `#`.
  const path = url.hash.startsWith('#/') ? url.hash.slice(1) : url.pathname;
  const { kind = '', value = '', id } = PATH.exec(path)?.groups ?? {};
  const named = namedValue(value);
  if (named === undefined) return undefined;
  const own = OWN_CHAIN.exec(path)?.groups?.chain;
  const host = url.hostname.replace(/^www\./, '');
  const chainId = own === undefined ? CHAINS_BY_HOST[host] : Number(own);
  const isForeign = !isPath && own === undefined;
  const instanceId = id ?? (kind.toLowerCase() === 'token' ? idIn(url) : undefined);
  return {
    ...named,
    ...kindOf(named, kind.toLowerCase(), instanceId),
    ...(chainId === undefined ? {} : { chainId }),
    ...(isForeign ? { host } : {}),
  };
}

/** Kind of a value in the path of a page, where the page says more than the value does. */
function kindOf(
  { kind }: SearchText,
  page: string,
  instanceId: string | undefined,
): Pick<SearchText, 'kind' | 'instanceId'> {
  if (kind === 'hash')
    return { kind: page === 'tx' ? 'transaction' : page.startsWith('block') ? 'block' : 'hash' };
  if (kind !== 'address' || (page !== 'token' && page !== 'nft')) return {};
  return instanceId === undefined ? { kind: 'token' } : { kind: 'instance', instanceId };
}

/** Id of an NFT in the query of Etherscan's token page: `?a=5`. */
function idIn(url: URL): string | undefined {
  const id = url.searchParams.get('a');
  return id !== null && /^\d{1,78}$/.test(id) ? id : undefined;
}

function withPrefix(hex: string): string {
  return `0x${hex.replace(/^0x/i, '').toLowerCase()}`;
}

function urlOf(text: string): URL | undefined {
  return URL.canParse(text) ? new URL(text) : undefined;
}
