import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { grouped } from '#pages/browser/amounts.ts';
import { Delay } from '#pages/browser/answer.ts';
import { h } from '#pages/browser/element.ts';
import { Ago, Moment } from '#pages/browser/moment.ts';
import { isTemporary } from '#pages/browser/problem.ts';
import { pagePath } from './api.ts';
import type { Chain, ChainBackend } from './chains.ts';
import { useChains, useReorganisations } from './live/live.ts';

/** Time for which a reorganisation is news. */
const RECENT_MS = 120_000;

/**
 * State of the server and of a page's chain, as far as it concerns what the page shows: nothing while all is well. A
 * page without a chain in its URL tells it of all chains.
 */
export function StateNotices(): VNode {
  const { answer, problem } = useChains();
  const { chainId } = pagePath();
  const chains = answer?.data.chains ?? [];
  const concerned = chains.some(({ id }) => id === chainId)
    ? chains.filter(({ id }) => id === chainId)
    : chains;
  const reorganisations = useReorganisations();
  const words = concerned.flatMap(troublesOf);
  if (problem?.status !== undefined && isTemporary(problem)) return h(Delay, { problem });
  return html`
    ${
      problem !== undefined &&
      answer !== undefined &&
      html`<p class="notice warning" role="status">
        The server has not answered since ${h(Moment, { at: answer.at })}. What is shown is from before.
      </p>`
    }
    ${concerned.map(({ id, name }) => {
      const { firstBlock, at } = reorganisations.get(id) ?? { firstBlock: 0, at: 0 };
      const isRecent = Date.now() - at < RECENT_MS;
      return (
        isRecent &&
        html`<p class="notice warning" role="status" key=${id}>
          ${name}: blocks from ${grouped(firstBlock)} on were replaced ${h(Ago, { at })}. This page shows the new ones.
        </p>`
      );
    })}
    ${
      words.length > 0 &&
      html`<ul class="notice warning plain" role="status">
        ${words.map(text => html`<li key=${text}>${text}</li>`)}
      </ul>`
    }
  `;
}

/** Back ends of a chain that are down, behind or stalled, in sentences. */
export function troublesOf({ name, backends }: Pick<Chain, 'name' | 'backends'>): readonly string[] {
  const found = backends.flatMap(backend => {
    const trouble = troubleOf(backend);
    return trouble === undefined ? [] : [`${name}: ${backend.name} ${trouble}.`];
  });
  const hasOther = found.length < backends.length;
  return found.map(text => (hasOther ? `${text} Another back end answers instead.` : text));
}

function troubleOf({ kind, ready, head, lag, stalled }: ChainBackend): string | undefined {
  if (ready && !stalled) return undefined;
  if (kind !== 'index') return 'does not answer';
  if (head === null) return 'waits for its first block';
  const until = `and has all blocks up to ${grouped(head)}`;
  if (lag === null) return `cannot reach its node, ${until}`;
  return stalled
    ? `stands still, ${grouped(lag)} blocks behind, ${until}`
    : `is ${grouped(lag)} ${lag === 1 ? 'block' : 'blocks'} behind, ${until}`;
}
