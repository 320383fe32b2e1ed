import { type Dirent, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { KnownAbi } from '../../evm/abi/abi.ts';
import { plainAbi, UnreadableAbi } from './abi-file.ts';
import { registryContract } from './registry-contract.ts';

/** Contracts of a folder, and one sentence per file that could not be read, with the path relative to the folder. */
export interface KnownContracts {
  readonly contracts: readonly KnownAbi[];
  readonly problems: readonly string[];
}

/** Folders of Sourcify's repository layout, the better match first. */
const MATCHES = [
  ['full_match', 'full'],
  ['partial_match', 'partial'],
] as const;

const ADDRESS = /^0x[0-9a-fA-F]{40}$/;

/**
 * Reads a folder of ABIs: `*.json` files, and Sourcify's repository layout, `contracts/full_match|partial_match/<chain
 * id>/<address>/`. Contracts of other chains are ignored. A bad file does not prevent reading the others.
 */
export function readKnownContracts(folder: string, chainId: number): KnownContracts {
  const contracts: KnownAbi[] = [];
  const problems: string[] = [];
  const read = (one: string, load: () => KnownAbi) => {
    try {
      contracts.push(load());
    } catch (error) {
      if (!(error instanceof UnreadableAbi)) throw error;
      problems.push(`${one}: ${error.message}`);
    }
  };

  const entries = list(folder);
  if (entries === null) return { contracts, problems: ['must be a folder that can be read'] };
  for (const entry of entries.filter(isJsonFile)) {
    read(entry.name, () => plainAbi(join(folder, entry.name), basename(entry.name, '.json')));
  }
  for (const [match, kind] of MATCHES) {
    const ofChain = join('contracts', match, String(chainId));
    for (const { name } of list(join(folder, ofChain)) ?? []) {
      if (!ADDRESS.test(name)) continue;
      const path = join(ofChain, name);
      read(path, () => registryContract(join(folder, path), { address: name, match: kind }));
    }
  }
  return { contracts, problems };
}

function isJsonFile(entry: Dirent): boolean {
  return entry.isFile() && entry.name.endsWith('.json');
}

/** Entries of a folder, sorted by name; null when it cannot be read. */
function list(folder: string): Dirent[] | null {
  try {
    return readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch {
    return null;
  }
}
