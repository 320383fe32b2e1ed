import type { ExplorerSchemas } from '#contract/contracts/explorer.ts';
import { isObject, toJson } from '#lib/json.ts';
import { type Fields, fieldsOf, listOf, optionalField, pick } from '../../upstream-json/fields.ts';
import {
  addressHashOrNull,
  bareHexOrNull,
  booleanOrNull,
  countOrNull,
  decimalOrNull,
  hexOrNull,
  naturalOrNull,
  textOrNull,
  timestampOrNull,
} from '../../upstream-json/values.ts';
import { addressIn } from './address.ts';
import { decodedArgumentsOrNull } from './decoded.ts';

type SmartContract = ExplorerSchemas['SmartContract'];
type Language = NonNullable<SmartContract['language']>;
type Status = NonNullable<SmartContract['status']>;

const LANGUAGES: readonly Language[] = ['solidity', 'vyper', 'yul'];
const STATUSES: readonly Status[] = ['success', 'failed', 'selfdestructed'];

/**
 * Converts a contract of any generation. Values that upstream lacks are absent, so an unverified contract has little
 * more than its bytecodes (Decisions 3, 34).
 * @throws UnreadableRecord when it is no object.
 */
export function smartContract(value: unknown): SmartContract {
  const record = fieldsOf(value);
  return { ...verification(record), ...compilation(record), ...sources(record), ...existence(record) };
}

/**
 * Converts a contract in a list, of any generation. The transaction count has had three names.
 * @throws UnreadableRecord without an address.
 */
export function smartContractItem(value: unknown): ExplorerSchemas['SmartContractItem'] {
  const record = fieldsOf(value);
  return {
    address: addressIn(record, 'address'),
    coin_balance: naturalOrNull(record.coin_balance),
    compiler_version: textOrNull(record.compiler_version),
    has_constructor_args: booleanOrNull(record.has_constructor_args),
    language: languageOrNull(record),
    license_type: textOrNull(record.license_type),
    market_cap: decimalOrNull(record.market_cap),
    optimization_enabled: booleanOrNull(record.optimization_enabled),
    transactions_count: countOrNull(pick(record, 'transactions_count', 'transaction_count', 'tx_count')),
    verified_at: timestampOrNull(record.verified_at),
  };
}

function verification(record: Fields): SmartContract {
  return {
    ...optionalField('verified_twin_address_hash', addressHashOrNull(record.verified_twin_address_hash)),
    ...optionalField('minimal_proxy_address_hash', minimalProxyTarget(record)),
    ...optionalField('registry_repo_url', textOrNull(record.sourcify_repo_url)),
    ...optionalField('is_verified', booleanOrNull(record.is_verified)),
    ...optionalField('is_changed_bytecode', booleanOrNull(record.is_changed_bytecode)),
    ...optionalField('is_partially_verified', booleanOrNull(record.is_partially_verified)),
    ...optionalField('is_fully_verified', booleanOrNull(record.is_fully_verified)),
    ...optionalField('is_verified_via_registry', booleanOrNull(record.is_verified_via_sourcify)),
    ...optionalField(
      'is_verified_via_eth_bytecode_db',
      booleanOrNull(record.is_verified_via_eth_bytecode_db),
    ),
    ...optionalField('can_be_visualized_via_visualizer', booleanOrNull(record.can_be_visualized_via_sol2uml)),
    ...optionalField('verified_at', timestampOrNull(record.verified_at)),
  };
}

function compilation(record: Fields): SmartContract {
  const settings = record.compiler_settings;
  return {
    ...optionalField('name', textOrNull(record.name)),
    ...optionalField('language', languageOrNull(record)),
    ...optionalField('compiler_version', textOrNull(record.compiler_version)),
    ...optionalField('evm_version', textOrNull(record.evm_version)),
    ...optionalField('optimization_enabled', booleanOrNull(record.optimization_enabled)),
    // Compilers of some chains have modes such as `s` in place of a number.
    ...optionalField(
      'optimizations_runs',
      countOrNull(pick(record, 'optimization_runs', 'optimizations_runs')),
    ),
    ...optionalField('compiler_settings', isObject(settings) ? { ...settings } : null),
    ...optionalField(
      'constructor_args',
      bareHexOrNull(record.constructor_args) ?? textOrNull(record.constructor_args),
    ),
    ...optionalField('decoded_constructor_args', decodedArgumentsOrNull(record.decoded_constructor_args)),
  };
}

function sources(record: Fields): SmartContract {
  return {
    ...optionalField('abi', jsonTextOrNull(record.abi)),
    ...optionalField('source_code', textOrNull(record.source_code)),
    ...optionalField('file_path', textOrNull(record.file_path)),
    ...optionalField('additional_sources', listOrNull(record.additional_sources, contractSource)),
    ...optionalField('external_libraries', listOrNull(record.external_libraries, externalLibrary)),
  };
}

/**
 * Status of a contract. `creation_status` was `status` in 8.x. Earlier versions have only the flag, which does not
 * cover failed creations.
 */
function existence(record: Fields): SmartContract {
  const named = pick(record, 'creation_status', 'status');
  const flag = booleanOrNull(record.is_self_destructed);
  const status = STATUSES.find(known => known === named) ?? (flag === true ? 'selfdestructed' : null);
  return {
    ...optionalField('deployed_bytecode', hexOrNull(record.deployed_bytecode)),
    ...optionalField('creation_bytecode', hexOrNull(record.creation_bytecode)),
    ...optionalField('is_self_destructed', status === null ? flag : status === 'selfdestructed'),
    ...optionalField('status', status),
  };
}

/** Target of a minimal proxy. Up to 6.7 a field of its own, since then one of the proxy types. */
function minimalProxyTarget(record: Fields): string | null {
  const own = addressHashOrNull(record.minimal_proxy_address_hash);
  if (own !== null || record.proxy_type !== 'eip1167') return own;
  const [first] = listOf(record.implementations);
  return isObject(first) ? addressHashOrNull(pick(first, 'address_hash', 'address')) : null;
}

function languageOrNull(record: Fields): Language | null {
  if (record.is_vyper_contract === true) return 'vyper';
  return LANGUAGES.find(known => known === record.language) ?? null;
}

function jsonTextOrNull(value: unknown): string | null {
  if (typeof value === 'string') return value;
  return Array.isArray(value) ? toJson(value) : null;
}

/** Reads a list and leaves out unreadable items. Null when the value is no list. */
function listOrNull<Item>(value: unknown, read: (item: Fields) => Item | null): Item[] | null {
  if (!Array.isArray(value)) return null;
  return value.flatMap((item: unknown) => {
    const found = isObject(item) ? read(item) : null;
    return found === null ? [] : [found];
  });
}

function contractSource(item: Fields): ExplorerSchemas['ContractSource'] | null {
  const [path, code] = [textOrNull(item.file_path), textOrNull(item.source_code)];
  return path === null || code === null ? null : { file_path: path, source_code: code };
}

function externalLibrary(item: Fields): ExplorerSchemas['ExternalLibrary'] | null {
  const hash = addressHashOrNull(pick(item, 'address_hash', 'address'));
  return hash === null ? null : { name: textOrNull(item.name), address_hash: hash };
}
