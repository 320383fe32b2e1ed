import { spawnSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CannotStart } from '#lib/startup-error.ts';
import { ACCOUNT_COUNT, MNEMONIC } from './accounts.ts';

/** Foundry's anvil, or Hardhat's EDR in a process of tollgate. */
export type EngineName = 'anvil' | 'edr';

/** Rules of Ethereum that a chain follows from its first block on. */
export type Hardfork = 'prague' | 'amsterdam';

/** A program that runs one chain and speaks its JSON-RPC. */
export interface ChainEngine {
  readonly name: EngineName;
  readonly binary: string;
  /** True when it mines transactions with blobs (type 3) together with others. */
  readonly hasBlobs: boolean;
  argumentsFor(settings: ChainSettings): string[];
}

/** Settings of a new chain. `genesisTime` is in seconds. */
interface ChainSettings {
  readonly chainId: number;
  readonly hardfork: Hardfork;
  readonly genesisTime: number;
  /** Folder in which the engine may keep historical states. */
  readonly cacheFolder: string;
}

/** Places to search for engines. */
export interface EngineSearch {
  /** The only engine to search for. When absent, anvil and then EDR. */
  engine?: EngineName | undefined;
  /** `prague` when absent. */
  hardfork?: Hardfork | undefined;
  /** Path of an anvil to use where the npm package has none. */
  anvil?: string | undefined;
  anvilPackage?: string;
  anvilCommand?: string;
  edrPackage?: string;
  machine?: Machine;
}

const ANVIL_PACKAGE = '@foundry-rs/anvil-linux-amd64';
/** The newest fork that anvil 1.7 has. */
const ANVIL_FORK: Hardfork = 'prague';
const EDR_PACKAGE = '@nomicfoundation/edr';
const EDR_PROGRAM = fileURLToPath(new URL('./edr/rpc-server.ts', import.meta.url));

/**
 * Finds the engine that runs the chains. Anvil is the binary of the npm package, else `anvil` (a configured path), else
 * the command on PATH.
 * @throws EngineMissing when there is none; CannotStart when the only one that was asked for does not have the fork.
 */
export function findEngine(search: EngineSearch = {}): ChainEngine {
  const { engine, hardfork = 'prague', machine = process } = search;
  if (engine === 'anvil' && hardfork !== ANVIL_FORK) {
    throw new CannotStart(
      `anvil does not have the fork ${hardfork}`,
      'remove devnet.engine, or set it to "edr"',
      'devnet.engine',
    );
  }
  const binary = engine === 'edr' || hardfork !== ANVIL_FORK ? undefined : findAnvil(search);
  if (binary !== undefined) return { name: 'anvil', binary, hasBlobs: true, argumentsFor: anvilArguments };
  if (engine !== 'anvil' && hasEdr(machine, search.edrPackage ?? EDR_PACKAGE)) {
    return { name: 'edr', binary: process.execPath, hasBlobs: false, argumentsFor: edrArguments };
  }
  throw new EngineMissing(hardfork === ANVIL_FORK ? engine : 'edr', machine);
}

function findAnvil({
  anvil,
  anvilPackage = ANVIL_PACKAGE,
  anvilCommand = 'anvil',
}: EngineSearch): string | undefined {
  const manifest = resolved(`${anvilPackage}/package.json`);
  const packaged = manifest === undefined ? undefined : join(dirname(manifest), 'bin', 'anvil');
  const found = [packaged, anvil].find(file => file !== undefined && isExecutable(file));
  if (found !== undefined) return found;
  // The operating system searches PATH, so that this file need not read the environment.
  const { error } = spawnSync(anvilCommand, ['--version'], { stdio: 'ignore', windowsHide: true });
  return error === undefined ? anvilCommand : undefined;
}

/**
 * True when npm installed EDR for this machine. npm skips packages of other platforms, and those that need a newer
 * Node.
 */
function hasEdr({ platform, arch }: Machine, edrPackage: string): boolean {
  const program = resolved(edrPackage);
  if (program === undefined) return false;
  const native = `${EDR_PACKAGE}-${platform}-${arch}`;
  const names = [native, `${native}-gnu`, `${native}-musl`, `${native}-msvc`];
  return names.some(name => resolved(name, program) !== undefined);
}

function anvilArguments({ chainId, hardfork, genesisTime, cacheFolder }: ChainSettings): string[] {
  const options = {
    host: '127.0.0.1',
    port: 0,
    'chain-id': chainId,
    accounts: ACCOUNT_COUNT + 1,
    mnemonic: MNEMONIC,
    hardfork,
    order: 'fifo',
    timestamp: genesisTime,
    // By default anvil writes historical states to the home directory and leaves them there.
    'cache-path': cacheFolder,
  };
  return ['--no-mining', ...Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)])];
}

function edrArguments({ chainId, hardfork, genesisTime }: ChainSettings): string[] {
  return [EDR_PROGRAM, String(chainId), hardfork, String(genesisTime)];
}

/**
 * File of a package as resolved from `from`. Undefined when it is not installed, for example an optional package of
 * another platform.
 */
function resolved(name: string, from = import.meta.url): string | undefined {
  try {
    return createRequire(from).resolve(name);
  } catch {
    return undefined;
  }
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Operating system and processor of the machine. */
export interface Machine {
  readonly platform: NodeJS.Platform;
  readonly arch: string;
}

/** No engine on this machine. The message names the installation for it. */
export class EngineMissing extends CannotStart {
  /** `wanted` is the only engine that was searched for; undefined for any. */
  constructor(wanted: 'anvil' | 'edr' | undefined, machine: Machine) {
    const { platform, arch } = machine;
    const isInstalled = (wanted === 'anvil' ? ANVIL_MACHINES : EDR_MACHINES).includes(`${platform} ${arch}`);
    const ways = [...(isInstalled ? [INSTALL] : []), ...(wanted === 'edr' ? [] : [wayToAnvil(platform)])];
    const engine = wanted === undefined ? 'anvil or EDR' : `${wanted} (devnet.engine)`;
    super(
      `The embedded chains need ${engine}, which was not found`,
      `on ${SYSTEMS[platform] ?? platform} ${arch} ${ways.join(', or ') || 'leave devnet.engine out'}`,
      wanted === undefined ? undefined : 'devnet.engine',
    );
    this.name = 'EngineMissing';
  }
}

const SYSTEMS: Partial<Record<NodeJS.Platform, string>> = {
  darwin: 'macOS',
  linux: 'Linux',
  win32: 'Windows',
};

/** Systems for which npm has the engine. */
const EDR_MACHINES = ['linux x64', 'linux arm64', 'darwin x64', 'darwin arm64', 'win32 x64'];
const ANVIL_MACHINES = ['linux x64'];
const INSTALL =
  'run "npm ci" (or install this package again) with Node 24 or newer and without --omit=optional';

function wayToAnvil(platform: NodeJS.Platform): string {
  const location = 'on PATH, or its full path into ANVIL_BIN';
  return platform === 'win32'
    ? `put the anvil.exe of a Foundry release (https://github.com/foundry-rs/foundry/releases) ${location}`
    : `install Foundry (https://getfoundry.sh) and put its anvil ${location}`;
}
