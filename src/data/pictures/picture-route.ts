import type Router from '@koa/router';
import type { ExplorerOperations } from '../../contract/contracts/explorer.ts';
import type { InsightsOperations } from '../../contract/contracts/insights.ts';
import type { Handlers } from '../../contract/contracts/operations.ts';
import { closeSignal } from '../../http/app/request-state.ts';
import { HttpError } from '../../http/errors.ts';
import type { Representation } from '../../http/representation.ts';
import { sendRepresentation } from '../../http/send.ts';
import { isObject } from '../../lib/json.ts';
import type { Chain } from '../fallback/chain.ts';
import { DRAWING_TYPE, type PictureLoader, type PictureResult } from './picture-loader.ts';

/** Operations whose records contain the link to an NFT's picture. */
export interface PictureSources {
  readonly getTokenInstance: Handlers<ExplorerOperations>['getTokenInstance'];
  readonly getNft: Handlers<InsightsOperations>['getNft'];
}

interface Nft {
  readonly chain: Chain;
  readonly address: string;
  readonly id: bigint;
}

// A pattern, because the router matches string paths in any letter case and with a trailing slash.
const PATH =
  /^\/chain\/(?<chainId>\d+)\/token\/(?<address>0x[0-9a-fA-F]{40})\/instance\/(?<id>\d{1,78})\/picture$/;

/** True for the path of a picture. Unlike API answers, pictures are closed to pages of other origins. */
export const isPicturePath = (path: string): boolean => PATH.test(path);

/** Headers for content drawn by strangers: only our pages may embed it, and it can run nothing when opened directly. */
const CONFINED = {
  'Content-Security-Policy': "sandbox; default-src 'none'",
  'Cross-Origin-Resource-Policy': 'same-origin',
  'X-Content-Type-Options': 'nosniff',
};
/** A drawing brings its styles, pictures and fonts along. */
const CONFINED_DRAWING = {
  'Content-Security-Policy': `${CONFINED['Content-Security-Policy']}; style-src 'unsafe-inline'; img-src data:; font-src data:`,
};

const SHOWN = { 'Content-Disposition': 'inline', 'Cache-Control': 'public, max-age=86400' };

/**
 * Registers the route for pictures of NFTs. The link to a picture comes from our own API's answer, never from a
 * parameter, so only links named by a contract on a served chain are fetched (Decision 248).
 */
export function pictureRoute(
  router: Router,
  options: { chains: readonly Chain[]; sources: PictureSources; pictures: PictureLoader },
): void {
  const { chains, sources, pictures } = options;
  router.all(PATH, async ctx => {
    ctx.set(CONFINED); // also for refusals
    const nft = nftIn(ctx.path, chains);
    if (nft === undefined) throw new HttpError(404, 'Not found');
    const result = await pictures.load(await pictureLink(sources, nft), closeSignal(ctx));
    if (result.status !== 'ok') throw refusalOf(result.status);
    const { type, etag, bytes } = result.picture;
    if (type === DRAWING_TYPE) ctx.set(CONFINED_DRAWING);
    sendRepresentation(ctx, { etag, identity: bytes }, { ...SHOWN, 'Content-Type': type });
  });
}

function nftIn(path: string, chains: readonly Chain[]): Nft | undefined {
  const { chainId, address = '', id = '' } = PATH.exec(path)?.groups ?? {};
  const chain = chains.find(one => String(one.id) === chainId);
  const tokenId = BigInt(id);
  return chain === undefined || tokenId >= 2n ** 256n
    ? undefined
    : { chain, address: address.toLowerCase(), id: tokenId };
}

/**
 * Link to the picture. The explorer's record comes first, because it holds the link that the back end stores. The
 * insights record is second: for it, an index also reads documents of other hosts (Decision 91).
 * @throws HttpError like the operations, and 404 when no record has a picture.
 */
async function pictureLink({ getTokenInstance, getNft }: PictureSources, nft: Nft): Promise<string> {
  const { chain, address, id } = nft;
  const hasInstances = chain.backends.some(({ answers }) => answers.getTokenInstance !== undefined);
  const hasNfts = chain.backends.some(({ insights }) => insights?.getNft !== undefined);
  const instance = hasInstances
    ? await unlessMissing(
        getTokenInstance(
          { path: { address_hash: address, id }, query: { chain_id: chain.id } },
          WITHOUT_HEADERS,
        ),
      )
    : undefined;
  const link = linkIn(instance);
  if (link !== undefined) return link;
  const nfts = hasNfts
    ? await unlessMissing(
        getNft(
          {
            path: { contract_address: address, token_id: id.toString() },
            query: { chain_id: [chain.id], include_owners: 'false', resolve_metadata_links: 'false' },
          },
          WITHOUT_HEADERS,
        ),
      )
    : undefined;
  const described = linkIn(firstOf(nfts));
  if (described === undefined) throw refusalOf('unsupported');
  return described;
}

/** A request without headers, so that a browser's forced reload of a picture does not reload the records. */
const WITHOUT_HEADERS = { headers: {} };

type Answer = { readonly body: unknown } | { readonly encoded: { readonly representation: Representation } };

/** Body of an answer; undefined when the record does not exist, or a shared cache holds something else in its place. */
async function unlessMissing(pending: Promise<Answer>): Promise<unknown> {
  try {
    const answer = await pending;
    return 'body' in answer ? answer.body : JSON.parse(answer.encoded.representation.identity.toString());
  } catch (error) {
    const isMissing = error instanceof HttpError && error.status === 404;
    if (isMissing || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function firstOf(body: unknown): unknown {
  return isObject(body) && Array.isArray(body.data) ? body.data[0] : undefined;
}

function linkIn(record: unknown): string | undefined {
  if (!isObject(record)) return undefined;
  const { image_url: link, metadata } = record;
  const named = link ?? (isObject(metadata) ? (metadata.image ?? metadata.image_url) : undefined);
  return typeof named === 'string' && named !== '' ? named : undefined;
}

/** Seconds after which a rejected fetch may find a free slot. */
const RETRY_AFTER_S = 5;

function refusalOf(status: Exclude<PictureResult['status'], 'ok'>): HttpError {
  switch (status) {
    case 'unsupported':
      return new HttpError(404, 'This NFT has no picture that can be fetched');
    case 'failed':
      return new HttpError(502, 'The picture could not be fetched from its host');
    case 'not_a_picture':
      return new HttpError(415, 'The picture is not a PNG, JPEG, GIF, WebP, AVIF or SVG');
    case 'too_costly':
      return new HttpError(415, 'The picture has too many pixels, or is a drawing that is too complex');
    case 'busy':
      return new HttpError(503, 'Too many pictures are being fetched', {
        headers: { 'Retry-After': String(RETRY_AFTER_S) },
      });
  }
}
