import { type GatheredValues, gathered } from './gathered-values.ts';

const LAST = 99;

/** Order of a path: the higher, the more gathered values it needs, and the later it is requested. */
export function needs(path: string): number {
  return isSearch(path) ? LAST : path.split('{').length;
}

/**
 * Variants of a path with real values and its required query; none when no value was gathered for it. A search is first
 * requested without a query.
 */
export function realPaths(found: GatheredValues, path: string): string[] {
  if (isSearch(path)) {
    const wanted = gathered(found, 'transaction', 'block', 'address', 'contract');
    return [path, ...wanted.map(value => `${path}?q=${value}`)];
  }
  if (path.endsWith('/v1/tokens') || path.endsWith('/v1/nfts'))
    return named(path, 'owner_address', gathered(found, 'address', 'holder'));
  if (path.includes('/tokens/lookup')) return named(path, 'symbol', gathered(found, 'symbol'));
  if (path.includes('/tokens/price')) {
    return [
      ...gathered(found, 'priced').map(address => `${path}?address=${address}`),
      ...named(path, 'address', gathered(found, 'token')),
      ...named(path, 'symbol', gathered(found, 'symbol')),
    ];
  }
  if (path.endsWith('/export/{list}')) return exportPaths(found, path);
  if (!path.includes('{')) return [path];
  const [pattern, values] = gatheredFor(found, path);
  return [...new Set(values)].map(value => path.replace(pattern, () => value));
}

/** Appends a query to a path. */
export function withQuery(path: string, query: string): string {
  return `${path}${path.includes('?') ? '&' : '?'}${query}`;
}

/** Part of a path to replace, and its values. */
function gatheredFor(found: GatheredValues, path: string): [pattern: string, values: string[]] {
  const patterns: [string, string[]][] = [
    ['{address_hash}/instances/{id}', gathered(found, 'instance')],
    ['{contract_address}/{token_id}', gathered(found, 'nft')],
    ['{contract_address}/{signature}', gathered(found, 'event')],
    ['/{contract_address}', contractsIn(gathered(found, 'event')).map(one => `/${one}`)],
    ['{input}', gathered(found, 'transaction', 'block', 'contract', 'address')],
    ['{wallet_address}', gathered(found, 'address', 'holder')],
    ['{transaction_hash}', gathered(found, 'moving', 'traced', 'transaction')],
    ['{block_number_or_hash}', gathered(found, 'block')],
  ];
  if (path.endsWith('/tokens/{address_hash}/instances')) {
    const contracts = gathered(found, 'instance').map(instance => instance.split('/')[0] ?? '');
    return ['{address_hash}', contracts];
  }
  if (path.includes('/tokens/{address_hash}') && !path.includes('{id}'))
    return ['{address_hash}', gathered(found, 'token')];
  if (path.includes('/smart-contracts/')) return ['{address_hash}', gathered(found, 'contract')];
  if (path.endsWith('/withdrawals') && path.includes('{block')) {
    return ['{block_number_or_hash}', gathered(found, 'withdrawn', 'block')];
  }
  if (path.includes('/abi/')) return ['{contract_address}', gathered(found, 'verified')];
  if (/\/nfts(\/transfers)?\/\{contract_address\}$/.test(path)) {
    return ['{contract_address}', contractsIn(gathered(found, 'nft'))];
  }
  const known = patterns.find(([pattern]) => path.includes(pattern));
  return (
    known ?? ['{address_hash}', gathered(found, 'address', 'holder', 'verified', 'validator', 'receiver')]
  );
}

/** Exports of a list of the chain, which takes no other parameters, and of lists of an address. */
function exportPaths(found: GatheredValues, path: string): string[] {
  const of = (list: string, query = '') => path.replace('{list}', list) + query;
  return [
    of('listTokenTransfers'),
    ...['listAddressTransactions', 'listAddressTokenTransfers', 'listAddressTokens'].flatMap(list =>
      gathered(found, 'holder').map(address => of(list, `?address_hash=${address}`)),
    ),
    ...gathered(found, 'token').map(address => of('listTokenHolders', `?address_hash=${address}`)),
  ];
}

/** Contracts of tokens or events. */
function contractsIn(pairs: readonly string[]): string[] {
  return pairs.map(pair => pair.split('/')[0] ?? '');
}

/** Queries with all values at once, because some may have no data, and with the first one alone. */
function named(path: string, name: string, values: readonly string[]): string[] {
  const query = (some: readonly string[]) =>
    some.map(value => `${name}=${encodeURIComponent(value)}`).join('&');
  return values.length === 0 ? [] : [`${path}?${query(values)}`, `${path}?${query(values.slice(0, 1))}`];
}

function isSearch(path: string): boolean {
  return path.includes('/search');
}
