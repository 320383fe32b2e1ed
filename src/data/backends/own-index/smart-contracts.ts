import { type Abi, type Address, decodeAbiParameters, type Hash, type Hex } from 'viem';
import type { ExplorerSchemas } from '#contract/contracts/explorer.ts';
import type { ContractSource, KnownAbi } from '#evm/abi/abi.ts';
import { mayDecode } from '#evm/abi/decoding-budget.ts';
import { typeText, valueText } from '#evm/abi/signatures.ts';
import { DELEGATION_PREFIX, lowerCase, minimalProxyTarget } from '#evm/address.ts';
import type { Answers } from '../port/backend.ts';
import type { InsightsAnswers } from '../port/insights-backend.ts';
import { checksummed } from './parts/format.ts';
import { nodeCannot } from './source/find-transaction.ts';
import { resolveAddress } from './source/names.ts';
import { type IndexSource, missingFrom } from './source/source.ts';

/** Contract record with its known sources. The code is read from the node at request time. */
export function smartContractAnswers(source: IndexSource) {
  const { reader } = source;
  return {
    async getSmartContract({ path }, { signal }) {
      const address = lowerCase(path.address_hash);
      const [head, creation] = await Promise.all([reader.head(), reader.contract(address)]);
      const code =
        head === null ? null : await reader.node.code({ address, blockNumber: head.number }, signal);
      if (code === null) throw nodeCannot('return the code of a contract');
      // EIP-7702: code that only delegates to another account is no contract.
      const isContract = code !== '0x' && !code.startsWith(DELEGATION_PREFIX);
      if (!isContract && creation === null) throw missingFrom(source, `Contract ${path.address_hash}`);
      return {
        body: smartContract({
          known: reader.abis.knownContract(address),
          code: isContract ? code : null,
          creationInput:
            creation === null ? null : (creation.creationInput ?? (await inner(creation.transactionHash))),
          minimalProxyTarget: minimalProxyTarget(code),
        }),
      };

      /** Creation code of a contract created by another contract. Only a trace contains it. */
      async function inner(hash: Hash): Promise<Hex | null> {
        const items = await reader.node.trace(hash, signal);
        const created = items?.findLast(({ result }) => result?.address?.toLowerCase() === address);
        return created?.action.init ?? null;
      }
    },
  } satisfies Answers;
}

type SmartContract = ExplorerSchemas['SmartContract'];

/** Facts that a contract's record is built from. */
interface ContractFacts {
  readonly known: KnownAbi | null;
  /** Null when the contract was destroyed. */
  readonly code: Hex | null;
  /** Creation code with its arguments; null when unknown. */
  readonly creationInput: Hex | null;
  readonly minimalProxyTarget: Address | null;
}

/** Builds a contract's record. Every contract has bytecodes and flags; the rest needs a known ABI or sources. */
function smartContract(facts: ContractFacts): SmartContract {
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

/** Fields that only a contract with known sources has. */
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

/** Reads linked libraries: `file.sol` → `Library` → address, or in old compilers `file.sol:Library` → address. */
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

/**
 * Constructor arguments: the part of the creation code behind the compiled code. Null when the creation code begins
 * differently.
 */
function argumentsOf(creationInput: Hex | null, compiled: Hex | null): Hex | null {
  if (creationInput === null || compiled === null || !creationInput.startsWith(compiled)) return null;
  const rest = creationInput.slice(compiled.length);
  return rest === '' ? null : `0x${rest}`;
}

/**
 * Decodes constructor arguments to pairs: the value as text (Decision 19) and the declared parameter. Null when the ABI
 * has no matching constructor.
 */
function decodedArguments(abi: Abi, encoded: Hex): [string, Record<string, string>][] | null {
  const declared = abi.find(item => item.type === 'constructor');
  if (declared === undefined || !mayDecode(declared.inputs, encoded)) return null;
  try {
    const values: readonly unknown[] = decodeAbiParameters(declared.inputs, encoded);
    return declared.inputs.map((input, position) => [
      valueText(values[position]),
      { name: input.name ?? '', type: typeText(input), internalType: input.internalType ?? typeText(input) },
    ]);
  } catch {
    // The remaining bytes may not be arguments of this constructor.
    return null;
  }
}

/** True when the code on the chain equals the compiled code, except for bytes that the constructor filled in. */
function isSameCode(code: Hex, compiled: Hex, immutables: ContractSource['immutables']): boolean {
  const found = Buffer.from(code.slice(2), 'hex');
  const wanted = Buffer.from(compiled.slice(2), 'hex');
  if (found.length !== wanted.length) return false;
  for (const { start, length } of immutables) found.fill(0, start, start + length);
  return found.equals(wanted);
}

/** ABI items that a contract has at most once. Those of an implementation do not apply to its proxy. */
const SINGLE: readonly string[] = ['constructor', 'fallback', 'receive'];

/** Known ABI of a contract. A proxy's ABI includes that of its implementation (Decision 92). */
export function abiAnswers(source: IndexSource) {
  const { abis, implementations } = source.reader;
  const knownAbi = (address: Address | undefined): Abi =>
    (address === undefined ? undefined : abis.knownContract(address)?.abi) ?? [];
  return {
    async getContractAbi({ path }) {
      const address = await resolveAddress(source, path.contract_address);
      const own = knownAbi(address);
      const behind = knownAbi((await implementations([address])).get(address));
      const abi = merged(own, behind);
      if (abi.length === 0) throw missingFrom(source, `ABI of ${path.contract_address}`);
      return abi.map(item => ({ ...item }));
    },
  } satisfies InsightsAnswers;
}

/** Merges two ABIs. Items in both, such as an error, are listed once. */
function merged(own: Abi, behind: Abi): Abi {
  const listed = new Set(own.map(item => JSON.stringify(item)));
  return [...own, ...behind.filter(item => !SINGLE.includes(item.type) && !listed.has(JSON.stringify(item)))];
}
