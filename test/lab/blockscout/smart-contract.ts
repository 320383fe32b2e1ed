import { type Fields, fieldsOf, listOf } from '#data/backends/upstream-json/fields.ts';
import { decodedValue } from './decoded.ts';
import { countOfTransactions, type Generation, named, since } from './generation.ts';
import { address } from './parties.ts';

/** A contract. An unverified one has little more than its bytecode. */
export function smartContract(generation: Generation, record: Fields): Fields {
  const { deployed_bytecode, creation_bytecode } = record;
  const existence = {
    deployed_bytecode: deployed_bytecode ?? null,
    creation_bytecode: creation_bytecode ?? null,
    ...named(generation, record.is_self_destructed ?? null, [{ name: 'is_self_destructed', until: 'v8' }]),
    ...named(generation, record.status ?? null, [
      { name: 'status', from: 'v8', until: 'v8' },
      { name: 'creation_status', from: 'v9.3' },
    ]),
  };
  const isVerified = record.is_verified === true;
  const proxy = proxyOf(generation, record, isVerified);
  if (!isVerified) return { ...existence, ...proxy };
  const marks = named(generation, false, [
    { name: 'is_vyper_contract', until: 'v6.9' },
    { name: 'is_verified_via_verifier_alliance', from: 'v6.9' },
    { name: 'certified', from: 'v6.9' },
    { name: 'is_blueprint', from: 'v6.9' },
  ]);
  const license = named(generation, null, [{ name: 'license_type', from: 'v6.9' }]);
  return { ...existence, ...proxy, ...verified(record), ...marks, ...license };
}

/** A verified contract in a list. */
export function smartContractItem(generation: Generation, record: Fields): Fields {
  const { address: contract, license_type: license, transactions_count: count, ...same } = record;
  return {
    ...same,
    address: address(generation, contract),
    ...countOfTransactions(generation, count),
    ...named(generation, license, [{ name: 'license_type', from: 'v6.9' }]),
    ...named(generation, false, [{ name: 'certified', from: 'v6.9' }]),
    ...named(generation, 'ok', [{ name: 'reputation', from: 'v9.3' }]),
  };
}

/** A minimal proxy is a proxy type since 6.8; before, only verified contracts had the information. */
function proxyOf(generation: Generation, record: Fields, isVerified: boolean): Fields {
  const target = record.minimal_proxy_address_hash ?? null;
  if (!since(generation, 'v6.9')) return isVerified ? { minimal_proxy_address_hash: target } : {};
  const key = since(generation, 'v9.3') ? 'address_hash' : 'address';
  return {
    proxy_type: target === null ? null : 'eip1167',
    implementations: target === null ? [] : [{ [key]: target, name: null }],
    ...named(generation, null, [{ name: 'conflicting_implementations', from: 'v9.3' }]),
  };
}

function verified(record: Fields): Fields {
  const unknown = { verified_twin_address_hash: null, verified_at: null };
  const { abi, decoded_constructor_args, optimizations_runs, registry_repo_url, ...others } = record;
  const { is_verified_via_registry, can_be_visualized_via_visualizer, ...same } = others;
  const { status, is_self_destructed, minimal_proxy_address_hash, ...kept } = same;
  return {
    ...unknown,
    ...kept,
    abi: typeof abi === 'string' ? JSON.parse(abi) : null,
    optimization_runs: optimizations_runs ?? null,
    sourcify_repo_url: registry_repo_url ?? null,
    is_verified_via_sourcify: is_verified_via_registry ?? null,
    can_be_visualized_via_sol2uml: can_be_visualized_via_visualizer ?? null,
    decoded_constructor_args: Array.isArray(decoded_constructor_args)
      ? decoded_constructor_args.map(pair => {
          const [value, description] = listOf(pair);
          return [decodedValue(fieldsOf(description).type, value), description];
        })
      : null,
  };
}
