import {
  concat,
  encodeAbiParameters,
  encodeFunctionData,
  getContractAddress,
  parseAbi,
  size,
  toEventSelector,
  toHex,
} from 'viem';
import type { KnownAbi } from '#evm/abi/abi.ts';
import { speakingToken } from '../data/insights/nft-support.ts';
import { startTestChain, type TestChain } from '../indexer/support.ts';
import { text } from '../lab/json.ts';

/** Start of every hostile text, visible even where a page clips long texts. */
export const MARKUP = `"'><script>`;
/** Markup that sets a flag on the window when a page runs it. */
export const PROGRAM = `${MARKUP}window.ran=1</script>`;
/** Same with characters that reorder text, and one word without a break. */
const HOSTILE = `\u202e${PROGRAM}<img src=x onerror="window.ran=1">${'W'.repeat(300)}`;

const SPEAKER = parseAbi(['event Said(string text)', 'function say(string text)']);
const [PUSH0, PUSH2, PUSH32, CODECOPY, LOG1] = ['0x5f', '0x61', '0x7f', '0x39', '0xa1'] as const;
const NFT_ID = 7n;

/** A chain on which every freely chosen text is `HOSTILE`. */
export interface HostileChain {
  readonly chain: TestChain;
  /** Contracts with a known ABI: its name is hostile, too. */
  readonly abis: readonly KnownAbi[];
  /** Its pages below `/chain/{id}`, and the hostile text that each shows. */
  readonly pages: readonly { readonly path: string; readonly shows: string }[];
}

/** Starts the chain: a token, an NFT with metadata, and a contract that logs a text and is called with one. */
export async function startHostileChain(): Promise<HostileChain> {
  const chain = await startTestChain();
  const holder = chain.accounts.signer(1).address;
  const token = await chain.deploy('CommunityToken', [HOSTILE, HOSTILE, 10n ** 24n]);
  await chain.mine();
  const minting = await chain.send(0, token.call('mint', [holder, 5n * 10n ** 18n]));
  await chain.mine();
  const nft = await speakingToken(chain, { id: NFT_ID, to: holder, uri: metadataUri() });
  const from = chain.accounts.signer(0).address;
  const nonce = BigInt(text(await chain.rpc.call('eth_getTransactionCount', from, 'pending')));
  const speaker = getContractAddress({ from, nonce });
  const { hash: saidIn } = await chain.send(0, { data: creationThatSays(HOSTILE) });
  await chain.mine();
  const calling = await chain.send(0, {
    to: speaker,
    data: encodeFunctionData({ abi: SPEAKER, functionName: 'say', args: [HOSTILE] }),
  });
  await chain.mine();
  return {
    chain,
    abis: [{ address: speaker, abi: SPEAKER, name: HOSTILE }],
    pages: [
      { path: '', shows: '' },
      { path: `/tx/${minting.hash}`, shows: MARKUP },
      { path: `/tx/${saidIn}?tab=logs`, shows: MARKUP },
      { path: `/tx/${calling.hash}`, shows: MARKUP },
      { path: `/tx/${calling.hash}?tab=trace`, shows: '' },
      { path: `/address/${holder}?tab=tokens`, shows: MARKUP },
      { path: `/address/${speaker}?tab=contract`, shows: MARKUP },
      { path: `/token/${token.address}`, shows: MARKUP },
      { path: `/token/${nft}`, shows: '' }, // its name is the address of its metadata
      { path: `/token/${nft}?tab=instances`, shows: MARKUP },
      { path: `/token/${nft}/instance/${NFT_ID}`, shows: MARKUP },
    ],
  };
}

/** Metadata with script addresses, as links that contain the script. */
function metadataUri(): string {
  const program = 'javascript:window.ran=1';
  const metadata = {
    name: HOSTILE,
    description: HOSTILE,
    image: program,
    external_url: program,
    animation_url: 'data:text/html,<script>window.ran=1</script>',
    attributes: [
      { trait_type: HOSTILE, value: HOSTILE },
      { trait_type: { nested: HOSTILE }, value: [HOSTILE] },
    ],
  };
  return `data:application/json;base64,${Buffer.from(JSON.stringify(metadata)).toString('base64')}`;
}

/** Creation code that logs `Said(text)` and leaves a contract without code. */
function creationThatSays(said: string) {
  const data = encodeAbiParameters([{ type: 'string' }], [said]);
  const length = concat([PUSH2, toHex(size(data), { size: 2 })]);
  const topic = concat([PUSH32, toEventSelector('Said(string)')]);
  const code = (offset: number) =>
    concat([length, PUSH2, toHex(offset, { size: 2 }), PUSH0, CODECOPY, topic, length, PUSH0, LOG1, '0x00']);
  return concat([code(size(code(0))), data]);
}
