import { CURRENT_FACTORY } from '../../deposits/deposit-factory.ts';
import { checkFactory, type FactoryState } from '../../deposits/self-check.ts';
import type { ChainNode } from '../../node/chain-node.ts';
import type { ChainClient } from '../../node/client.ts';

/** Finding of several nodes about the factory of a chain (Decision 398). Its reason follows the name of the chain. */
export type FactoryFinding =
  | { readonly kind: 'works' }
  /** The factory cannot be used. */
  | { readonly kind: 'unusable'; readonly reason: string }
  /** Too few nodes answered. */
  | { readonly kind: 'unknown'; readonly reason: string };

/** Hosts whose nodes have to agree, where the chain has as many. */
const HOSTS = 2;

type Answer =
  | { readonly host: string; readonly state: FactoryState }
  | { readonly host: string; readonly failure: unknown };

/**
 * Asks every node of a chain about the factory. It works if no node denies it, and two of different hosts have confirmed
 * it, or the only one. So a node that lies can have no address shown at which money would be lost.
 */
export async function findFactory({ id, nodes }: Pick<ChainClient, 'id' | 'nodes'>): Promise<FactoryFinding> {
  const answers = await Promise.all(nodes.map(askNode));
  const states = answers.flatMap(one => ('state' in one ? [one] : []));
  const faults = states.flatMap(({ host, state }) =>
    state.kind === 'broken' ? [`${state.reason}, as its node ${host} says`] : [],
  );
  const [fault] = faults;
  if (fault !== undefined) {
    return { kind: 'unusable', reason: `the factory at ${CURRENT_FACTORY.address} ${fault}` };
  }
  const lacking = states.filter(({ state }) => state.kind === 'absent');
  if (lacking.length > 0) return { kind: 'unusable', reason: absence(id, { lacking, states }) };
  const confirmed = new Set(states.map(({ host }) => host));
  const needed = Math.min(HOSTS, new Set(nodes.map(({ host }) => host)).size);
  if (confirmed.size >= needed) return { kind: 'works' };
  const silent = answers.filter(one => 'failure' in one).map(({ host }) => host);
  return {
    kind: 'unknown',
    reason: `the check of the factory has no answer of its ${silent.length === 1 ? 'node' : 'nodes'} ${silent.join(', ')}`,
  };
}

async function askNode(node: ChainNode): Promise<Answer> {
  const { host } = node;
  try {
    await node.verify();
    return { host, state: await checkFactory(node) };
  } catch (failure) {
    return { host, failure };
  }
}

function absence(
  id: number,
  { lacking, states }: Readonly<Record<'lacking' | 'states', readonly { readonly host: string }[]>>,
): string {
  return lacking.length === states.length
    ? `the factory is not deployed: run tollgate deposit-factory deploy --chain ${id}`
    : `the factory is not known to its node ${lacking[0]?.host}`;
}
