import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { grouped } from '#pages/browser/amounts.ts';
import { useAnswer } from '#pages/browser/answer.ts';
import { h } from '#pages/browser/element.ts';
import { Badge, Tabs } from '#pages/browser/layout.ts';
import { CopyButton } from '#pages/browser/reference.ts';
import { setTitle, show } from '#pages/browser/show.ts';
import { api, type Explorer, pageOf, pagePath } from '../api.ts';
import { Elsewhere } from '../elsewhere.ts';
import { Frame, Source } from '../frame.ts';
import { useBlockRenewal, useChainState, useHead } from '../live/live.ts';
import { MainRecord } from '../main-record.ts';
import { ProofBadge } from '../records/chain-facts.ts';
import { blockTabs } from './block-lists.ts';
import { BlockOverview } from './block-overview.ts';

type Block = Explorer['Block'];

const NUMBER = /^\d+$/;

const { chainId, rest } = pagePath();
const [, asked = ''] = rest;

function BlockPage(): VNode {
  return asked === 'latest' ? h(LatestBlock, {}) : h(NumberedBlock, {});
}

/** Leads to the page of the newest block, whose address keeps its meaning. */
function LatestBlock(): VNode {
  const chain = useChainState(chainId);
  const head = useHead(chainId);
  useEffect(() => {
    if (head !== undefined) location.replace(pageOf.block(chainId, head));
  }, [head]);
  return h(Frame, {
    children: html`<h1>Latest block</h1>
      <p class="loading" role="status">Waiting for a block of ${chain?.name ?? `chain ${chainId}`}…</p>`,
  });
}

/** Page of a block: its fields and its contents. */
function NumberedBlock(): VNode {
  const [phase, setPhase] = useState<'missing' | 'open' | 'final'>('missing');
  const chain = useChainState(chainId);
  const head = useHead(chainId);
  const renewal = useBlockRenewal(chainId);
  const block = useAnswer(
    signal =>
      api.GET('/explorer/blocks/{block_number_or_hash}', {
        params: { path: { block_number_or_hash: asked }, query: { chain_id: chainId } },
        signal,
      }),
    [],
    phase === 'final'
      ? {}
      : {
          ...renewal,
          ...(phase === 'missing' && { version: head !== undefined && head >= Number(asked) }),
          mayAppear: true,
        },
  );
  const height = block.answer?.data.height;
  const depth = height === undefined || head === undefined ? -1 : head - height;
  useEffect(() => {
    if (height === undefined) return;
    setPhase(chain !== undefined && depth >= chain.confirmations ? 'final' : 'open');
  }, [height, chain, depth]);
  return h(Frame, {
    children: h(MainRecord<Block>, {
      loading: block,
      title: 'Block',
      malformed:
        'This is not a block. A block is named by its number, or by its hash: 0x and 64 hexadecimal digits.',
      missing: html`${NUMBER.test(asked) ? 'This block does not exist yet.' : 'No back end of this chain has this block.'} <a href=${pageOf.chain(chainId)}>See the latest blocks</a>.
        ${asked.startsWith('0x') && h(Elsewhere, { chainId, what: 'block', text: asked })}`,
      mayAppear: true,
      removed: 'This block is no longer on the chain. It was replaced, or no back end has it any more.',
      children: (data, headers) => h(ShownBlock, { block: data, headers }),
    }),
  });
}

function ShownBlock({ block, headers }: { block: Block; headers: Headers }): VNode {
  const { height, type, proven } = block;
  const chain = useChainState(chainId);
  const head = useHead(chainId);
  setTitle(`Block ${grouped(height)}`);
  return html`
    <div class="title">
      <div>
        <h1 class="row">
          Block ${grouped(height)} ${h(CopyButton, { text: String(height) })} ${h(ProofBadge, { proven })}
        </h1>
        <p class="small">On <a href=${pageOf.chain(chainId)}>${chain?.name ?? `chain ${chainId}`}</a></p>
      </div>
      ${type !== null && type !== 'block' && h(Badge, { tone: 'warning', children: orphanTexts[type] })}
      <nav class="row" aria-label="Blocks">
        ${h(Neighbour, {
          text: '← Previous',
          block: type === 'block' ? height - 1 : block.parent_hash,
          isThere: height > 0,
        })}
        ${h(Neighbour, {
          text: 'Next →',
          block: height + 1,
          isThere: head === undefined || height < head,
        })}
      </nav>
    </div>
    ${h(Tabs, {
      label: 'Parts of the block',
      tabs: [
        {
          id: 'overview',
          label: 'Overview',
          content: () => html`
            ${h(BlockOverview, { chainId, block })}
            ${h(Source, { headers })}
          `,
        },
        ...blockTabs(chainId, block),
      ],
    })}
  `;
}

const orphanTexts = {
  reorg: 'Orphaned: replaced by another block',
  uncle: 'Uncle: not on the chain, but referenced by a later block',
} as const;

/** Link to the previous or next block; plain text if there is none. */
function Neighbour({
  text,
  block,
  isThere,
}: {
  text: string;
  block: number | string;
  isThere: boolean;
}): VNode {
  if (!isThere) return html`<span class="button" aria-disabled="true" role="link">${text}</span>`;
  return html`<a class="button" href=${pageOf.block(chainId, block)}>${text}</a>`;
}

show(BlockPage);
