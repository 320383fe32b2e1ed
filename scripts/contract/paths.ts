import { type GatheredValues, gathered } from './gathered-values.ts';

const LAST = 99;

/** How much a path needs to have been gathered before: the higher, the later it is asked for. */
export function needs(path: string): number {
  return isSearch(path) ? LAST : path.split('{').length;
}

/**
 * The path with real values, a few variants, with the query that it cannot do without; none when nothing was gathered
 * for it. A search is first as it is.
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
  if (!path.includes('{')) return [path];
  const [pattern, values] = gatheredFor(found, path);
  return [...new Set(values)].map(value => path.replace(pattern, () => value));
}

/** A path with a query behind what query it has. */
export function withQuery(path: string, query: string): string {
  return `${path}${path.includes('?') ? '&' : '?'}${query}`;
}

/** What to replace in a path, and by what. */
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

/** The contracts of tokens or events, which stand behind them. */
function contractsIn(pairs: readonly string[]): string[] {
  return pairs.map(pair => pair.split('/')[0] ?? '');
}

/** All values at once, for some of them may have nothing, and the first one alone. */
function named(path: string, name: string, values: readonly string[]): string[] {
  const query = (some: readonly string[]) =>
    some.map(value => `${name}=${encodeURIComponent(value)}`).join('&');
  return values.length === 0 ? [] : [`${path}?${query(values)}`, `${path}?${query(values.slice(0, 1))}`];
}

function isSearch(path: string): boolean {
  return path.includes('/search');
}
