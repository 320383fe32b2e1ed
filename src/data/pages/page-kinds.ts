import { shortened } from '#pages/browser/reference.ts';

/** Operations that answer with the record of a page. */
export type RecordOperation = 'getTransaction' | 'getBlock' | 'getAddress' | 'getToken' | 'getTokenInstance';

/** Kind of page: its paths, its module, and how it is described to those who have not opened it. */
interface PageKind {
  readonly path: RegExp;
  /** Module below `browser/`. */
  readonly module: string;
  readonly title: string;
  /** Sentence for search engines and previews; `{of}` is the record with its chain. */
  readonly description: string;
  /** Form of the record in the path. Without one, the page is of no single record. */
  readonly record?: RegExp;
  readonly operation?: RecordOperation;
}

const HASH = /^0x[0-9a-fA-F]{64}$/;
/** An address, or a name such as alice.eth, which the page looks up. */
const ADDRESS_OR_NAME = /^0x[0-9a-fA-F]{40}$|\./;

// Patterns, because the router matches string paths in any letter case and with a trailing slash.
export const PAGE_KINDS: readonly PageKind[] = [
  {
    path: /^\/$/,
    module: 'home/home.ts',
    title: '',
    description: 'Explorer of the blocks, transactions, addresses and tokens of the chains on this server.',
  },
  {
    path: /^\/playground$/,
    module: 'playground/playground.ts',
    title: 'Playground',
    description: 'Try queries on blocks, transactions, events and tokens, and copy them as code.',
  },
  {
    path: /^\/search$/,
    module: 'search/search.ts',
    title: 'Search',
    description: 'Search for blocks, transactions, addresses and tokens on the chains of this server.',
  },
  {
    path: /^\/(?:tx|block|address|token)\/[^/]+(?:\/instance\/[^/]+)?$/,
    module: 'search/search.ts',
    title: 'Search',
    description: 'Search for blocks, transactions, addresses and tokens on the chains of this server.',
  },
  {
    path: /^\/chain\/(?<chain>\d+)$/,
    module: 'chain/chain.ts',
    title: 'Chain',
    description: 'Latest blocks, transactions and tokens {of}.',
  },
  {
    path: /^\/chain\/(?<chain>\d+)\/(?:blocks|txs|pending|token-transfers|internal-txs|tokens|contracts|accounts|withdrawals)$/,
    module: 'chain/list.ts',
    title: 'List',
    description: 'Blocks, transactions, tokens and contracts {of}.',
  },
  {
    path: /^\/chain\/(?<chain>\d+)\/address\/(?<record>[^/]+)$/,
    module: 'address/address.ts',
    title: 'Address',
    description: 'Balance, tokens, transactions and contract {of}.',
    record: ADDRESS_OR_NAME,
    operation: 'getAddress',
  },
  {
    path: /^\/chain\/(?<chain>\d+)\/token\/(?<record>[^/]+)$/,
    module: 'token/token.ts',
    title: 'Token',
    description: 'Supply, price, transfers and holders {of}.',
    record: ADDRESS_OR_NAME,
    operation: 'getToken',
  },
  {
    path: /^\/chain\/(?<chain>\d+)\/token\/(?<contract>[^/]+)\/instance\/(?<record>[^/]+)$/,
    module: 'token/instance.ts',
    title: 'NFT',
    description: 'Picture, owner and transfers {of}.',
    record: /^\d{1,78}$/,
    operation: 'getTokenInstance',
  },
  {
    path: /^\/chain\/(?<chain>\d+)\/block\/(?<record>[^/]+)$/,
    module: 'block/block.ts',
    title: 'Block',
    description: 'Transactions, gas, fees and withdrawals {of}.',
    record: /^(?:\d{1,18}|0x[0-9a-fA-F]{64}|latest)$/,
    operation: 'getBlock',
  },
  {
    path: /^\/chain\/(?<chain>\d+)\/tx\/(?<record>[^/]+)$/,
    module: 'transaction/transaction.ts',
    title: 'Transaction',
    description: 'Status, value, fee, calls, logs and token transfers {of}.',
    record: HASH,
    operation: 'getTransaction',
  },
];

/** Record that a page shows. */
export interface PageRecord {
  readonly operation: RecordOperation;
  readonly chainId: number;
  /** Hash, number or address. */
  readonly id: string;
  /** Contract of an NFT. */
  readonly contract: string | undefined;
}

/** Facts about a page that its path tells. */
export interface PagePath {
  readonly title: string;
  readonly description: string;
  /** Path without spellings that lead to the same page. */
  readonly canonical: string;
  /** False when the path holds something that cannot be a record of this kind. */
  readonly isWellFormed: boolean;
  /** Record to look up; undefined for a page of none, and for one that only the page can find. */
  readonly record: PageRecord | undefined;
}

const NAMES_NO_RECORD = /^latest$|\./;

/** Reads a path that `kind` matches. */
export function pagePathOf(kind: PageKind, path: string): PagePath {
  const { chain, record, contract } = kind.path.exec(path)?.groups ?? {};
  const isWellFormed = record === undefined || kind.record === undefined || kind.record.test(record);
  const named = record !== undefined && isWellFormed ? ` ${shortened(record)}` : '';
  const parts = [`${kind.title}${named}`, ...(chain === undefined || named === '' ? [] : [`chain ${chain}`])];
  const of =
    chain === undefined
      ? ''
      : `of ${named === '' ? '' : `${kind.title.toLowerCase()} ${record} on `}chain ${chain}`;
  const { operation } = kind;
  const isLookedUp = isWellFormed && operation !== undefined && !NAMES_NO_RECORD.test(record ?? '.');
  return {
    title: [...parts, 'tollgate'].filter(part => part !== '').join(' · '),
    description: kind.description.replace('{of}', () => of),
    canonical: isWellFormed ? path.toLowerCase() : path,
    isWellFormed,
    record: isLookedUp ? { operation, chainId: Number(chain), id: record ?? '', contract } : undefined,
  };
}

/** Longest number of a block in a path. Longer ones are not exact as numbers. */
const NUMBER_CHARACTERS = 15;
const GROUPED_BLOCK = /^(\/chain\/\d+)\/block\/#?([\d,]+)$/;
const HEX_BLOCK = /^(\/chain\/\d+)\/block\/(0x[0-9a-f]{1,12})$/;
const WORD = /^(?:search|playground|chain|tx|block|address|token|instance|latest)$/i;

/** A run is looked at from its beginning only, so that a path of slashes takes linear time. */
const TRAILING_SLASHES = /(?<=^\/|[^/])\/+$/;

/**
 * Path of the page that another spelling means: with a trailing slash, words in other letter case, or a block's number
 * in hexadecimal or with separators. Undefined when there is none.
 */
export function meantPath(path: string): string | undefined {
  const plain = path
    .replace(TRAILING_SLASHES, '')
    .split('/')
    .map(segment => (WORD.test(segment) ? segment.toLowerCase() : segment))
    .join('/');
  const [, chain, digits] = GROUPED_BLOCK.exec(plain) ?? HEX_BLOCK.exec(plain.toLowerCase()) ?? [];
  const number = digits?.replaceAll(',', '') ?? '';
  const isNumber = number !== '' && number.length <= NUMBER_CHARACTERS;
  const meant = isNumber ? `${chain}/block/${BigInt(number)}` : plain;
  return meant !== path && PAGE_KINDS.some(kind => kind.path.test(meant)) ? meant : undefined;
}
