import type { InsightsSchemas } from '#contract/contracts/insights.ts';
import type { TokenRow } from '#indexer/read/tokens/tokens.ts';
import { isObject } from '#lib/json.ts';
import { type Metadata, mediaIn, metadataOf } from '../source/metadata.ts';
import type { FetchedDocument } from '../source/metadata-documents.ts';

type NftMetadata = InsightsSchemas['NftMetadata'];

/** What a token's or a contract's own description is made from. */
export interface TokenDescription {
  /** As the contract gives it; null when it gives none. */
  readonly uri: string | null;
  readonly found: FetchedDocument | null;
}

/** Turns a link into the one that is shown. */
export type LinkPresenter = (link: string) => string;

/** What a token shows: `status` is `ok`, `none` without a document, `invalid` for one that is none, or a failure. */
export function nftMetadata({ uri, found }: TokenDescription, shown: LinkPresenter): NftMetadata {
  const metadata = found?.status === 'ok' ? metadataOf(found.text) : null;
  const status =
    found === null ? 'none' : found.status === 'ok' && metadata === null ? 'invalid' : found.status;
  return {
    ...(metadata === null ? {} : ofDocument(metadata, shown)),
    status,
    // A URI that holds the document itself leads nowhere.
    ...(uri === null || /^(?:data:|\{)/i.test(uri) ? {} : { metadata_url: shown(uri) }),
  };
}

/** What a contract says of itself (ERC-7572), at least its name; nothing when it says nothing. */
export function nftCollection(
  { found }: TokenDescription,
  token: TokenRow | undefined,
  shown: LinkPresenter,
): InsightsSchemas['NftCollection'] | null {
  const metadata = found?.status === 'ok' ? metadataOf(found.text) : null;
  const { document = {}, imageUrl = null, externalUrl = null } = metadata ?? {};
  const link = (...names: string[]) => mediaIn(document, names);
  const collection = {
    ...text('name', document.name ?? token?.name),
    ...text('description', document.description),
    ...optional('image_url', imageUrl, shown),
    ...optional('banner_image_url', link('banner_image_url', 'banner_image'), shown),
    ...optional('featured_image_url', link('featured_image_url', 'featured_image'), shown),
    ...optional('external_link', link('external_link') ?? externalUrl, shown),
  };
  return Object.keys(collection).length === 0 ? null : collection;
}

/** A contract by what the index read from it. */
export function nftContract(
  chainId: number,
  address: string,
  { token, type }: { token: TokenRow | undefined; type: 'erc721' | 'erc1155' },
): InsightsSchemas['NftContract'] {
  return {
    chain_id: chainId,
    address,
    ...text('name', token?.name),
    ...text('symbol', token?.symbol),
    type,
  };
}

function ofDocument(
  { document, imageUrl, animationUrl, externalUrl }: Metadata,
  shown: LinkPresenter,
): NftMetadata {
  const { name, description, background_color: background, attributes, properties } = document;
  const extra = { ...traits(attributes), ...(isObject(properties) ? { properties } : {}) };
  return {
    ...text('name', name),
    ...text('description', description),
    ...optional('image_url', imageUrl, shown),
    ...optional('video_url', mediaIn(document, ['video_url', 'video']), shown),
    ...optional('animation_url', animationUrl, shown),
    ...text('background_color', background),
    ...optional('external_url', externalUrl, shown),
    ...(Object.keys(extra).length === 0 ? {} : { extra_metadata: extra }),
  };
}

/** Usually a list of objects; what else stands in it is nobody's trait. */
function traits(attributes: unknown): Pick<InsightsSchemas['NftExtraMetadata'], 'attributes'> {
  if (Array.isArray(attributes)) return { attributes: attributes.filter(isObject) };
  return isObject(attributes) ? { attributes } : {};
}

function text<Name extends string>(name: Name, value: unknown): { [Key in Name]?: string };
function text(name: string, value: unknown): Record<string, string> {
  return typeof value === 'string' ? { [name]: value } : {};
}

function optional<Name extends string>(
  name: Name,
  link: string | null,
  shown: LinkPresenter,
): { [Key in Name]?: string };
function optional(name: string, link: string | null, shown: LinkPresenter): Record<string, string> {
  return link === null ? {} : { [name]: shown(link) };
}
