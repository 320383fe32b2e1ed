import { html } from 'htm/preact';
import type { ComponentChildren, VNode } from 'preact';
import { grouped } from '#pages/browser/amounts.ts';
import { Awaited, useAnswer } from '#pages/browser/answer.ts';
import { h } from '#pages/browser/element.ts';
import { Badge, Facts } from '#pages/browser/layout.ts';
import { Moment } from '#pages/browser/moment.ts';
import { clipped, Reference, shortened, webAddress } from '#pages/browser/reference.ts';
import { api, type Explorer, pageOf } from '../api.ts';
import { Source } from '../frame.ts';
import { CodeText } from '../records/code-text.ts';
import { DecodedParameters } from '../records/decoded-parameters.ts';
import type { ChainAddress } from './activity.ts';
import { ContractAbi, ContractSources } from './verified-contract.ts';

type SmartContract = Explorer['SmartContract'];

/** Source, ABI and code of a contract. */
export function Contract({
  chainId,
  address,
  implementations,
}: ChainAddress & { implementations: Explorer['AddressDetails']['implementations'] }): VNode {
  const contract = useAnswer(
    signal =>
      api.GET('/explorer/smart-contracts/{address_hash}', {
        params: { path: { address_hash: address }, query: { chain_id: chainId } },
        signal,
      }),
    [chainId, address],
  );
  return h(Awaited<SmartContract>, {
    loading: contract,
    children: (record, headers) => html`<div class="stack">
      ${record.is_verified !== true && h(NotVerified, {})}
      ${implementations.map(
        ({ address_hash: hash, name }) => html`<p key=${hash} class="notice">
          This is a proxy. Its functions are those of the contract${' '}
          <a href=${`${pageOf.address(chainId, hash)}?tab=contract`}>${name === null ? shortened(hash) : clipped(name)}</a>.
        </p>`,
      )}
      ${h(Relatives, { chainId, contract: record })}
      ${h(Compilation, { contract: record })}
      ${h(ConstructorArguments, { chainId, contract: record })}
      ${record.abi !== undefined && h(ContractAbi, { abi: record.abi })}
      ${h(ContractSources, { contract: record })}
      ${h(Bytecode, { contract: record })}
      ${h(Source, { headers })}
    </div>`,
  });
}

/** Notice that the contract is not verified, with ways to change that. */
function NotVerified(): VNode {
  return html`<div class="notice warning">
    <p>
      This contract is not verified here: its source code and its ABI are unknown. Its calls and events are
      shown as raw data.
    </p>
    <p class="small">
      The operator of this server can add its ABI, or its sources in Sourcify's layout, to the folder
      given by <code>abis</code> in the chain's configuration. If Blockscout serves the chain, anyone can verify the contract
      there.
    </p>
  </div>`;
}

/** Contracts that the shown sources come from, or that calls are forwarded to. */
function Relatives({ chainId, contract }: { chainId: number; contract: SmartContract }): VNode {
  const link = (hash: string) => h(Reference, { value: hash, href: pageOf.address(chainId, hash) });
  const { verified_twin_address_hash: twin, minimal_proxy_address_hash: behind } = contract;
  return html`
    ${twin !== undefined && html`<p class="notice">The sources are those of ${link(twin)}, which has the same code.</p>`}
    ${behind !== undefined && html`<p class="notice">This is a minimal proxy: its calls go to ${link(behind)}.</p>`}
    ${contract.is_changed_bytecode === true && html`<p class="notice warning">The code has changed since the sources were verified.</p>`}
    ${contract.is_self_destructed === true && html`<p class="notice warning">The contract destroyed itself.</p>`}
  `;
}

function Compilation({ contract }: { contract: SmartContract }): VNode | null {
  if (contract.is_verified !== true) return null;
  const { language, compiler_version: compiler, evm_version: evm, verified_at: at } = contract;
  const rows: readonly (readonly [string, ComponentChildren])[] = [
    ['Contract name', contract.name !== undefined && clipped(contract.name)],
    ['Match', matchOf(contract)],
    ['Compiler', compiler !== undefined && `${language ?? ''} ${clipped(compiler)}`],
    ['Optimization', optimizationOf(contract)],
    ['EVM version', evm !== undefined && clipped(evm)],
    ['Verified', at !== undefined && h(Moment, { at })],
    ['Source registry', registryLink(contract.registry_repo_url)],
    [
      'Libraries',
      (contract.external_libraries ?? []).length > 0 &&
        contract.external_libraries?.map(
          ({ name, address_hash: hash }) =>
            html`<div key=${hash}>${clipped(name ?? 'Library')} <code>${hash}</code></div>`,
        ),
    ],
  ];
  return h(Facts, { rows });
}

function matchOf({ is_fully_verified, is_partially_verified }: SmartContract): VNode | false {
  if (is_fully_verified === true) return h(Badge, { tone: 'good', children: 'Full match' });
  return is_partially_verified === true && h(Badge, { tone: 'busy', children: 'Partial match' });
}

function optimizationOf({
  optimization_enabled: isOn,
  optimizations_runs: runs,
}: SmartContract): string | false {
  if (isOn === undefined) return false;
  if (!isOn) return 'disabled';
  return runs === undefined ? 'enabled' : `enabled, ${grouped(runs)} runs`;
}

function registryLink(address: string | undefined): VNode | false {
  const href = webAddress(address);
  return href !== undefined && html`<a href=${href} rel="noreferrer noopener">${clipped(href)}</a>`;
}

function ConstructorArguments({
  chainId,
  contract,
}: {
  chainId: number;
  contract: SmartContract;
}): VNode | null {
  const { constructor_args: raw, decoded_constructor_args: decoded = [] } = contract;
  if (raw === undefined || raw === '' || raw === '0x') return null;
  return html`<section class="stack">
    <h3>Constructor arguments</h3>
    ${
      decoded.length > 0 &&
      h(DecodedParameters, {
        chainId,
        label: 'Constructor arguments',
        parameters: decoded.map(argumentIn),
      })
    }
    <details><summary>ABI-encoded</summary>${h(CodeText, { label: 'ABI-encoded constructor arguments', value: raw })}</details>
  </section>`;
}

/** Reads a pair of value and description. */
function argumentIn([value, description]: readonly unknown[]) {
  const { name, type } =
    typeof description === 'object' && description !== null
      ? { name: '', type: '', ...description }
      : { name: '', type: '' };
  return {
    name: String(name),
    type: String(type),
    value: typeof value === 'string' ? value : JSON.stringify(value),
  };
}

function Bytecode({ contract }: { contract: SmartContract }): VNode {
  const { deployed_bytecode: deployed, creation_bytecode: creation } = contract;
  const part = (label: string, code: string | undefined) =>
    code !== undefined &&
    code !== '0x' &&
    html`<details>
      <summary>${label}, ${grouped((code.length - 2) / 2)} bytes</summary>
      ${h(CodeText, { label, value: code })}
    </details>`;
  return html`<section class="stack">
    <h3>Bytecode</h3>
    ${part('Deployed bytecode', deployed)}
    ${part('Creation bytecode', creation)}
  </section>`;
}
