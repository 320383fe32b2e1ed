import type { Address, Hex } from 'viem';
import type { ExplorerSchemas } from '#contract/contracts/explorer.ts';
import type { KnownAbi } from '#evm/abi/abi.ts';
import { argumentsOf, decodedArguments } from '../parts/constructor-arguments.ts';
import { isSameCode } from '../parts/same-code.ts';
import { checksummed } from '../parts/text.ts';

type SmartContract = ExplorerSchemas['SmartContract'];
type ContractSource = NonNullable<KnownAbi['source']>;

/** What an answer about a contract is made from. */
export interface ContractFacts {
  readonly known: KnownAbi | null;
  /** Null when the contract is gone. */
  readonly code: Hex | null;
  /** Creation code with its arguments; null when unknown. */
  readonly creationInput: Hex | null;
  readonly minimalProxyTarget: Address | null;
}

/** A contract's record: bytecodes and flags of any, everything else where its sources or its ABI are known. */
export function smartContract(facts: ContractFacts): SmartContract {
  const { known, code, creationInput, minimalProxyTarget } = facts;
  return {
    is_verified: known?.source !== undefined,
    is_self_destructed: code === null,
    is_verified_via_eth_bytecode_db: false,
    can_be_visualized_via_visualizer: false,
    status: code === null ? 'selfdestructed' : 'success',
    ...(code === null ? {} : { deployed_bytecode: code }),
    ...(creationInput === null ? {} : { creation_bytecode: creationInput }),
    ...(minimalProxyTarget === null ? {} : { minimal_proxy_address_hash: checksummed(minimalProxyTarget) }),
    ...(known === null
      ? {}
      : { abi: JSON.stringify(known.abi), name: known.source?.contractName ?? known.name }),
    ...(known?.source === undefined ? {} : verification(facts, known.source)),
    ...(known === null ? {} : constructorArguments(facts, known)),
  };
}

/** What a contract with known sources has beyond one without. */
function verification({ code }: ContractFacts, source: ContractSource): SmartContract {
  const { settings, match, deployedCode, isFromRegistry } = source;
  const { enabled, runs } = objectIn(settings, 'optimizer');
  const { evmVersion } = settings;
  return {
    is_partially_verified: match === 'partial',
    is_fully_verified: match === 'full',
    is_verified_via_registry: isFromRegistry,
    ...(deployedCode === null || code === null
      ? {}
      : { is_changed_bytecode: !isSameCode(code, deployedCode, source.immutables) }),
    language: source.language,
    compiler_version: source.compilerVersion,
    compiler_settings: { ...settings },
    ...(typeof enabled === 'boolean' ? { optimization_enabled: enabled } : {}),
    ...(typeof runs === 'number' ? { optimizations_runs: runs } : {}),
    ...(typeof evmVersion === 'string' ? { evm_version: evmVersion } : {}),
    file_path: source.filePath,
    source_code: source.sourceCode,
    additional_sources: source.additionalSources.map(({ path, content }) => ({
      file_path: path,
      source_code: content,
    })),
    external_libraries: librariesIn(settings),
  };
}

function constructorArguments({ creationInput }: ContractFacts, { abi, source }: KnownAbi): SmartContract {
  const raw = source?.constructorArgs ?? argumentsOf(creationInput, source?.creationCode ?? null);
  if (raw === null) return {};
  const decoded = decodedArguments(abi, raw);
  return { constructor_args: raw, ...(decoded === null ? {} : { decoded_constructor_args: decoded }) };
}

/** `file.sol` → `Library` → address, or in old compilers `file.sol:Library` → address. */
function librariesIn(settings: ContractSource['settings']): ExplorerSchemas['ExternalLibrary'][] {
  return Object.entries(objectIn(settings, 'libraries')).flatMap(([file, linked]) => {
    const pairs: [string, unknown][] =
      typeof linked === 'object' && linked !== null
        ? Object.entries(linked)
        : [[file.slice(file.lastIndexOf(':') + 1), linked]];
    return pairs.flatMap(([name, address]) =>
      typeof address === 'string' && isAddress(address) ? [{ name, address_hash: checksummed(address) }] : [],
    );
  });
}

function isAddress(text: string): text is Address {
  return /^0x[0-9a-fA-F]{40}$/.test(text);
}

function objectIn(settings: ContractSource['settings'], key: string): Record<string, unknown> {
  const value = settings[key];
  return typeof value === 'object' && value !== null ? { ...value } : {};
}
