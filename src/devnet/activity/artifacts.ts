import { readFileSync } from 'node:fs';
import { type Abi, type Address, type Hex, isHex } from 'viem';

/** Compiler output and sources of a sample contract. Source: `scripts/compile-contracts.ts`. */
interface Artifact {
  name: string;
  sourcePath: string;
  source: string;
  additionalSources: Record<string, string>;
  compilerVersion: string;
  settings: Record<string, unknown>;
  abi: Abi;
  bytecode: Hex;
  deployedBytecode: Hex;
  /** Keyed by the id of the declaration in the source. */
  immutableReferences: Record<string, { start: number; length: number }[]>;
}

/** Creation code of a compiled sample contract, without constructor arguments. @throws Error when not compiled. */
export function creationCode(name: string): Hex {
  const { bytecode } = artifact(name);
  if (!isHex(bytecode)) throw new Error(`generated/devnet/${name}.json holds no bytecode`);
  return bytecode;
}

/** Adds interfaces and sources to sample contracts. Contracts without an artifact are left out. */
export function knownContracts<
  Contract extends { name: string; address: Address; artifactName: string | null },
>(contracts: readonly Contract[]) {
  return contracts.flatMap(({ name, address, artifactName }) => {
    if (artifactName === null) return [];
    const compiled = artifact(artifactName);
    return [{ name, address, abi: compiled.abi, source: sourceOf(compiled) }];
  });
}

/** Source of a contract that was compiled here, so its bytecode matches including the metadata hash. */
function sourceOf(compiled: Artifact) {
  return {
    contractName: compiled.name,
    language: 'solidity' as const,
    compilerVersion: compiled.compilerVersion,
    settings: compiled.settings,
    filePath: compiled.sourcePath,
    sourceCode: compiled.source,
    additionalSources: Object.entries(compiled.additionalSources).map(([path, content]) => ({
      path,
      content,
    })),
    match: 'full' as const,
    isFromRegistry: false,
    creationCode: compiled.bytecode,
    deployedCode: compiled.deployedBytecode,
    immutables: Object.values(compiled.immutableReferences).flat(),
    constructorArgs: null,
  };
}

function artifact(name: string): Artifact {
  return JSON.parse(readFileSync(new URL(`../../../generated/devnet/${name}.json`, import.meta.url), 'utf8'));
}
