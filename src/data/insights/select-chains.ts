import type { Caller } from '../../contract/contracts/operations.ts';
import { InvalidParameter } from '../../contract/contracts/violations.ts';
import { HttpError } from '../../http/errors.ts';
import type { Chain } from '../fallback/chain.ts';
import { namedChains } from './limits.ts';

/** The chains that a request may be about. */
export interface ConfiguredChains {
  /** In the order of the configuration. */
  readonly chains: readonly Chain[];
  /** Host of the service's public address, in lower case and without a port; undefined for none. */
  readonly publicHost?: string | undefined;
}

/** The chains that a request is about. */
export interface SelectedChains {
  readonly chains: readonly Chain[];
  /** Whether the request named them. Where it did not, some operations go on to the next chain. */
  readonly isNamed: boolean;
}

/** Where an unknown chain is said: a 404 for operations whose document has one, otherwise a 400. Decision 72. */
export type UnknownChain = 'invalid' | 'missing';

/**
 * The chains of `chain_id`, `chain` or the host's first label; all configured ones, in their order, when none is named.
 * Decision 73.
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

/** `1.data.example.com` is about chain 1; `127.0.0.1` is about none, and neither is `127.1`: names do not end in numbers. */
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
  // Below our own name a number can only be a chain; below another it may be anything.
  if (chain === undefined && others.join('.').toLowerCase() === publicHost)
    throw unknownChain(chains, label, { unknown, param: 'Host' });
  return chain;
}

/** The chains of a query: those that it names, else the first one that is configured. */
export function chainsAskedFor(
  configured: ConfiguredChains,
  query: { readonly chain_id?: readonly number[]; readonly chain?: readonly number[] },
  caller: Caller,
  unknown: UnknownChain = 'invalid',
): readonly Chain[] {
  const { chains, isNamed } = selectChains(configured, { query, host: hostOf(caller), unknown });
  return isNamed ? chains : chains.slice(0, 1);
}

/** The host as the client wrote it. */
export function hostOf({ headers }: Caller): string | undefined {
  const { host } = headers;
  return typeof host === 'string' ? host : undefined;
}
