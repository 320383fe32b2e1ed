import type { Validity } from '../backends/port/backend.ts';
import type { Chain } from '../fallback/chain.ts';

/** Until when answers hold that several back ends gave together. */
export interface BackendValidities {
  /** Undefined when none of them sees every block. */
  of(backends: readonly string[]): Validity | undefined;
}

export function backendValidities(chains: readonly Chain[]): BackendValidities {
  const byName = new Map(chains.flatMap(chain => chain.backends.map(backend => [backend.name, backend])));
  return {
    of: names => joined(names.map(name => byName.get(name)?.validity?.())),
  };
}

/** The validities of the parts of one answer as that of the whole. */
export function joined(parts: readonly (Validity | undefined)[]): Validity | undefined {
  const [only] = parts;
  if (parts.length < 2) return only;
  if (parts.every(part => part === undefined)) return undefined;
  return {
    revision: parts.map(part => part?.revision ?? '').join(),
    epoch: parts.map(part => part?.epoch ?? '').join(),
  };
}
