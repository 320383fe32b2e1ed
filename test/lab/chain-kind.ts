import type { EngineName, Hardfork } from '../../src/devnet/chain/engine.ts';

/** Engine of an embedded chain, with the rules that it follows. */
export interface ChainKind {
  readonly engine: EngineName;
  readonly hardfork: Hardfork;
}

/** Every kind of embedded chain. Anvil does not have Amsterdam. */
export const CHAIN_KINDS = [
  { engine: 'anvil', hardfork: 'prague' },
  { engine: 'edr', hardfork: 'prague' },
  { engine: 'edr', hardfork: 'amsterdam' },
] as const satisfies readonly ChainKind[];

/**
 * Kind of the chains that a test starts without naming one: `CHAIN_KIND` in the environment, for example
 * `edr-amsterdam`, and otherwise anvil. Projects of `vitest.config.ts` set it.
 */
export const chainKind: ChainKind = kindOf(process.env.CHAIN_KIND ?? 'anvil-prague');

/** True on anvil, which also has blobs, flat traces (`trace_block`) and all receipts of a block. EDR has none of them. */
export const isAnvil: boolean = chainKind.engine === 'anvil';

function kindOf(name: string): ChainKind {
  const kind = CHAIN_KINDS.find(({ engine, hardfork }) => name === `${engine}-${hardfork}`);
  if (kind === undefined) throw new Error(`CHAIN_KIND: there is no kind of chain ${name}`);
  return kind;
}
