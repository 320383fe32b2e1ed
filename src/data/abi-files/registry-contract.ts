import { existsSync } from 'node:fs';
import { join, normalize } from 'node:path';
import { type Hex, isHex, keccak256, toBytes } from 'viem';
import type { KnownAbi } from '../../evm/abi/abi.ts';
import { lowerCase } from '../../evm/address.ts';
import { isObject } from '../../lib/json.ts';
import { checkedAbi, member, readJson, readText, UnreadableAbi } from './abi-file.ts';

const LANGUAGES = { Solidity: 'solidity', Vyper: 'vyper', Yul: 'yul' } as const;

/**
 * Reads one contract of Sourcify's repository: the compiler's `metadata.json` (Solidity documentation, "Contract
 * Metadata"), the sources it names under `sources/`, and `constructor-args.txt` if there are any.
 * @throws UnreadableAbi when a file is missing, or a source does not match its hash in the metadata.
 */
export function registryContract(
  folder: string,
  { address, match }: { address: string; match: 'full' | 'partial' },
): KnownAbi {
  const metadata = readJson(join(folder, 'metadata.json'));
  const [target] = Object.entries(recordAt(metadata, 'settings', 'compilationTarget'));
  const version = member(metadata, 'compiler', 'version');
  if (target === undefined || typeof target[1] !== 'string' || typeof version !== 'string')
    throw new UnreadableAbi('metadata.json must name a compiler and a compilationTarget');
  const [filePath, contractName] = target;
  const { compilationTarget: _, ...settings } = recordAt(metadata, 'settings');
  const sources = Object.entries(recordAt(metadata, 'sources')).map(([path, facts]) => ({
    path,
    content: sourceOf(folder, path, facts),
  }));
  const main = sources.find(({ path }) => path === filePath);
  if (main === undefined)
    throw new UnreadableAbi('metadata.json must list the source of its compilationTarget');
  return {
    address: lowerCase(address),
    name: contractName,
    abi: checkedAbi(member(metadata, 'output', 'abi')),
    source: {
      contractName,
      language: languageOf(member(metadata, 'language')),
      compilerVersion: version.startsWith('v') ? version : `v${version}`,
      settings,
      filePath,
      sourceCode: main.content,
      additionalSources: sources.filter(source => source !== main),
      match,
      isFromRegistry: true,
      creationCode: null,
      deployedCode: null,
      immutables: [],
      constructorArgs: constructorArgs(folder),
    },
  };
}

/** Returns the text in the metadata if present, else the file's, and verifies its hash. */
function sourceOf(folder: string, path: string, facts: unknown): string {
  const inside = member(facts, 'content');
  const text = typeof inside === 'string' ? inside : readSource(folder, path);
  const hash = member(facts, 'keccak256');
  if (typeof hash === 'string' && keccak256(toBytes(text)) !== hash.toLowerCase())
    throw new UnreadableAbi(`the source ${path} is not the one that was compiled`);
  return text;
}

function readSource(folder: string, path: string): string {
  const relative = normalize(path);
  if (relative.startsWith('..')) throw new UnreadableAbi(`the source ${path} must lie under sources/`);
  const file = join(folder, 'sources', relative);
  if (!existsSync(file)) throw new UnreadableAbi(`the source ${path} is missing`);
  return readText(file);
}

function constructorArgs(folder: string): Hex | null {
  const file = join(folder, 'constructor-args.txt');
  if (!existsSync(file)) return null;
  const text = readText(file).trim();
  if (text === '' || text === '0x') return null;
  if (!isHex(text)) throw new UnreadableAbi('constructor-args.txt must be 0x and hex digits');
  return text;
}

function languageOf(value: unknown): 'solidity' | 'vyper' | 'yul' {
  const [, language] = Object.entries(LANGUAGES).find(([name]) => name === value) ?? [];
  if (language === undefined)
    throw new UnreadableAbi(`metadata.json must be of ${Object.keys(LANGUAGES).join(', ')}`);
  return language;
}

function recordAt(value: unknown, ...path: readonly string[]): Record<string, unknown> {
  const found = member(value, ...path);
  if (!isObject(found)) throw new UnreadableAbi(`metadata.json must have ${path.join('.')}`);
  return found;
}
