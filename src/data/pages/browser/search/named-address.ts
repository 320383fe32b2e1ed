import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useAnswer } from '#pages/browser/answer.ts';
import { h } from '#pages/browser/element.ts';
import { clipped, Reference } from '#pages/browser/reference.ts';
import { api, pageOf } from '../api.ts';
import type { Chain } from '../chains.ts';

/** Address behind a name on a chain. Renders nothing while it is unknown or if the name has none. */
export function NamedAddress({ chain, name }: { chain: Chain; name: string }): VNode | null {
  const { answer } = useAnswer(
    signal =>
      api.GET('/insights/v1/resolve/{input}', {
        params: { path: { input: name }, query: { chain_id: [chain.id] } },
        signal,
      }),
    [chain.id, name],
  );
  const address = answer?.data.data.address;
  if (address === undefined) return null;
  return html`<p class="row">
    <span>${clipped(name)} is the name of</span>
    ${h(Reference, { value: address, href: pageOf.address(chain.id, address) })}
  </p>`;
}
