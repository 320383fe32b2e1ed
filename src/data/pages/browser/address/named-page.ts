import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useEffect } from 'preact/hooks';
import { Empty, ProblemNotice, useAnswer } from '#pages/browser/answer.ts';
import { h } from '#pages/browser/element.ts';
import { clipped } from '#pages/browser/reference.ts';
import { setTitle } from '#pages/browser/show.ts';
import { api, pageOf } from '../api.ts';
import { useChain } from '../records/coin.ts';

const NAME_CHARACTERS = 80;
const MISSING = 404;
const NOT_IMPLEMENTED = 501;

/** Page of an address that is named as `alice.eth`: leads to the page of the address, or says why there is none. */
export function NamedPage({ chainId, name }: { chainId: number; name: string }): VNode {
  const chain = useChain(chainId)?.name ?? `chain ${chainId}`;
  const { answer, problem, reload } = useAnswer(
    signal =>
      api.GET('/insights/v1/resolve/{input}', {
        params: { path: { input: name }, query: { chain_id: [chainId] } },
        signal,
      }),
    [chainId, name],
  );
  const address = answer?.data.data.address;
  const shown = clipped(name, NAME_CHARACTERS);
  setTitle(shown);
  useEffect(() => {
    if (address !== undefined) location.replace(pageOf.address(chainId, address) + location.search);
  }, [address]);
  if (problem === undefined && (answer === undefined || address !== undefined)) {
    return html`<h1>${shown}</h1>
      <p class="loading" role="status">Looking for the address of this name…</p>`;
  }
  const reason = reasonFor(problem?.status, chain);
  return html`
    <h1>${shown}</h1>
    ${
      reason === undefined && problem !== undefined
        ? h(ProblemNotice, { problem, retry: reload })
        : h(Empty, {
            children: html`<p>${reason ?? `No address is known by this name on ${chain}.`}</p>
              <p><a href=${pageOf.search(name)}>Search all chains</a></p>`,
          })
    }
  `;
}

function reasonFor(status: number | undefined, chain: string): string | undefined {
  if (status === NOT_IMPLEMENTED) return `No back end of ${chain} can look up names.`;
  return status === undefined || status === MISSING
    ? `No address is known by this name on ${chain}.`
    : undefined;
}
