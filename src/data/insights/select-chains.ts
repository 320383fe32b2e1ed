import type { Caller } from '../../contract/contracts/operations.ts';
import { InvalidParameter } from '../../contract/contracts/violations.ts';
import { HttpError } from '../../http/errors.ts';
import type { Chain } from '../fallback/chain.ts';
import { namedChains } from './limits.ts';

/** Chains available to requests. */
export interface ConfiguredChains {
  /** In the order of the configuration. */
  readonly chains: readonly Chain[];
  /** Host of the service's public address, in lower case and without a port; undefined if it has none. */
  readonly publicHost?: string | undefined;
}

/** Chains selected by a request. */
export interface SelectedChains {
  readonly chains: readonly Chain[];
  /** True when the request named them. Otherwise some operations continue with the next chain. */
  readonly isNamed: boolean;
}

/**
 * Reply to an unknown chain: `missing` is a 404, for operations whose document has one; `invalid` is a 400 (Decision
 * 72).
 */
export type UnknownChain = 'invalid' | 'missing';

/**
 * Selects the chains of `chain_id` and `chain`, else of the host's first label, else all in configured order (Decision
 * 73).
 * @throws InvalidParameter or HttpError for a chain that is not configured.
 */
export function selectChains(
  configured: ConfiguredChains,
  {
    query,
    host,
    unknown = 'invalid',
  }: {
    query: { readonly chain_id?: readonly number[]; readonly chain?: readonly number[] };
    host: string | undefined;
    unknown?: UnknownChain;
  },
): SelectedChains {
  const ids = namedChains(query);
  if (ids.length === 0) {
    const ofHost = chainOfHost(configured, host, unknown);
    return ofHost === undefined
      ? { chains: configured.chains, isNamed: false }
      : { chains: [ofHost], isNamed: true };
  }
  return { chains: ids.map(id => chainOf(configured.chains, id, unknown)), isNamed: true };
}

function chainOf(configured: readonly Chain[], id: number, unknown: UnknownChain): Chain {
  const chain = configured.find(one => one.id === id);
  if (chain === undefined) throw unknownChain(configured, String(id), { unknown, param: 'chain_id' });
  return chain;
}

function unknownChain(
  configured: readonly Chain[],
  id: string,
  { unknown, param }: { unknown: UnknownChain; param: 'chain_id' | 'Host' },
): Error {
  if (unknown === 'missing') return new HttpError(404, `Chain ${id} is not served here`);
  const known = configured.map(one => one.id).join(', ');
  return new InvalidParameter(param, `must name one of the configured chains ${known}`);
}

/**
 * Chain in the host's first label: 1 for `1.data.example.com`. IP addresses such as `127.0.0.1` and `127.1` have none;
 * a name never ends in a number.
 */
function chainOfHost(
  { chains, publicHost }: ConfiguredChains,
  host: string | undefined,
  unknown: UnknownChain,
): Chain | undefined {
  const name = (host ?? '').replace(/:\d*$/, '');
  const [label = '', ...others] = name.split('.');
  const isName =
    others.length > 0 && !/^(?:0x[\da-f]*|\d+)$/i.test(others.at(-1) || (others.at(-2) ?? label));
  if (!isName || !/^[1-9]\d*$/.test(label)) return undefined;
  const chain = chains.find(({ id }) => String(id) === label);
  // Below the service's own host a number must be a chain. Below any other host it may mean something else.
  if (chain === undefined && others.join('.').toLowerCase() === publicHost)
    throw unknownChain(chains, label, { unknown, param: 'Host' });
  return chain;
}

/** Chains of a query: those it names, else the first configured one. */
export function chainsAskedFor(
  configured: ConfiguredChains,
  query: { readonly chain_id?: readonly number[]; readonly chain?: readonly number[] },
  caller: Caller,
  unknown: UnknownChain = 'invalid',
): readonly Chain[] {
  const { chains, isNamed } = selectChains(configured, { query, host: hostOf(caller), unknown });
  return isNamed ? chains : chains.slice(0, 1);
}

/** The `Host` header of the request. */
export function hostOf({ headers }: Caller): string | undefined {
  const { host } = headers;
  return typeof host === 'string' ? host : undefined;
}
