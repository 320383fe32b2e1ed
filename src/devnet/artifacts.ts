import { readFileSync } from 'node:fs';
import { type Abi, type Address, type Hex, isHex } from 'viem';

/** Creation code of a compiled sample contract, without constructor arguments. @throws Error when not compiled. */
export function creationCode(name: string): Hex {
  const { bytecode } = artifact(name);
  if (!isHex(bytecode)) throw new Error(`generated/devnet/${name}.json holds no bytecode`);
  return bytecode;
}

/** Sample contracts with their whole interfaces. Where a contract is no artifact of ours its interface is unknown. */
export function knownContracts<
  Contract extends { name: string; address: Address; artifactName: string | null },
>(contracts: readonly Contract[]): { name: string; address: Address; abi: Abi }[] {
  return contracts.flatMap(({ name, address, artifactName }) => {
    if (artifactName === null) return [];
    const { abi }: { abi: Abi } = artifact(artifactName);
    return [{ name, address, abi }];
  });
}

function artifact(name: string) {
  return JSON.parse(readFileSync(new URL(`../../generated/devnet/${name}.json`, import.meta.url), 'utf8'));
}
