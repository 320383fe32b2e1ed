import type { Address } from 'viem';
import type { InsightsSchemas } from '#contract/contracts/insights.ts';
import { type InstanceKey, instanceName, type NftType } from '#evm/token-id.ts';
import type { TokenRow } from '#indexer/read/tokens/tokens.ts';
import { isObject } from '#lib/json.ts';
import { type Metadata, mediaIn, metadataOf } from '../source/metadata.ts';
import { type FetchedDocument, INSIDE_ONLY, type MetadataDocuments } from '../source/metadata-documents.ts';
import type { IndexSource } from '../source/source.ts';

type NftMetadata = InsightsSchemas['NftMetadata'];

/** Time that an answer waits for contracts and hosts, in milliseconds. Later replies serve the next answer. */
const WAIT_MS = 3_000;
/** Maximum total length of the documents in one answer, in characters. Most tokens have a few hundred. */
const MAX_CHARACTERS = 8 * 2 ** 20;
/** Maximum number of owners per token, and over all tokens of an answer (Decision 91). */
const MAX_OWNERS = 1_000;
const MAX_OWNERS_OF_ALL = 20_000;

export interface DescribeRequest {
  /** Without duplicates. */
  readonly keys: readonly InstanceKey[];
  readonly withOwners: boolean;
  readonly withBrowsableLinks: boolean;
}

/** Returns the metadata of one of the described tokens. */
export type NftDescriptions = (key: InstanceKey) => NftMetadata | undefined;

const PENDING: FetchedDocument = { status: 'pending' };

/** Reads the metadata of tokens. Contracts and hosts that do not answer in time are `pending`. */
export async function describeNfts(
  source: IndexSource,
  { keys, withOwners, withBrowsableLinks }: DescribeRequest,
  signal: AbortSignal,
): Promise<NftDescriptions> {
  const { reader, documents = INSIDE_ONLY } = source;
  const contracts = [...new Set(keys.map(({ token }) => token))];
  const [rows, owners, described] = await Promise.all([
    reader.tokens(contracts),
    withOwners
      ? reader.nfts.owners(keys, Math.min(MAX_OWNERS, Math.floor(MAX_OWNERS_OF_ALL / keys.length)))
      : [],
    describe(source, { contracts, keys, documents }, signal),
  ]);
  const known = new Map(rows.map(row => [row.address, row]));
  const shown = withBrowsableLinks ? documents.browsable : (link: string) => link;
  const collections = new Map(
    contracts.map((token, index) => [
      token,
      nftCollection(described.contracts[index] ?? unheard(), known.get(token), shown),
    ]),
  );
  const byKey = new Map(
    keys.map((key, index): [string, NftMetadata] => {
      const collection = collections.get(key.token) ?? null;
      return [
        instanceName(key),
        {
          ...nftMetadata(described.instances[index] ?? unheard(), shown),
          ...(withOwners ? { owner_addresses: owners[index] ?? [] } : {}),
          ...(collection === null ? {} : { collection }),
          contract: nftContract(source.chainId, key, known.get(key.token)),
        },
      ];
    }),
  );
  return key => byKey.get(instanceName(key));
}

async function describe(
  { reader }: IndexSource,
  wanted: {
    contracts: readonly Address[];
    keys: readonly InstanceKey[];
    documents: MetadataDocuments;
  },
  signal: AbortSignal,
): Promise<{ contracts: TokenDescription[]; instances: TokenDescription[] }> {
  const head = await reader.head();
  const patience = AbortSignal.timeout(WAIT_MS);
  const context = { blockNumber: head?.number ?? 0, signal: AbortSignal.any([signal, patience]) };
  const over = new Promise<FetchedDocument>(resolve =>
    context.signal.addEventListener('abort', () => resolve(PENDING), { once: true }),
  );
  const described = async (uri: string | null): Promise<TokenDescription> => ({
    uri,
    found: uri === null ? null : await Promise.race([wanted.documents.read(uri), over]),
  });
  const [contracts, uris] = await Promise.all([
    Promise.all(
      wanted.contracts.map(token => reader.nfts.contractUri(token, context).then(described).catch(unheard)),
    ),
    reader.tokenUris(wanted.keys, context).catch(() => null),
  ]);
  const instances = uris === null ? wanted.keys.map(unheard) : await Promise.all(uris.map(described));
  signal.throwIfAborted();
  return { contracts, instances: bounded(instances) };
}

/** Description of a token whose contract did not answer. */
function unheard(): TokenDescription {
  return { uri: null, found: PENDING };
}

/** Drops documents beyond the limit, or an answer with a thousand tokens could be too long to send. */
function bounded(instances: readonly TokenDescription[]): TokenDescription[] {
  let left = MAX_CHARACTERS;
  return instances.map(({ uri, found }) => {
    if (found?.status !== 'ok') return { uri, found };
    left -= found.text.length;
    return left < 0 ? { uri, found: { status: 'too_long' } } : { uri, found };
  });
}

/** Metadata URI of a token or contract with its document. */
interface TokenDescription {
  /** URI given by the contract; null when it gives none. */
  readonly uri: string | null;
  readonly found: FetchedDocument | null;
}

/** Converts a link to the one shown to clients. */
type LinkPresenter = (link: string) => string;

/**
 * Metadata of a token. `status` is `ok`, `none` without a document, `invalid` for a document that is not metadata, or
 * the failure.
 */
function nftMetadata({ uri, found }: TokenDescription, shown: LinkPresenter): NftMetadata {
  const metadata = found?.status === 'ok' ? metadataOf(found.text) : null;
  const status =
    found === null ? 'none' : found.status === 'ok' && metadata === null ? 'invalid' : found.status;
  return {
    ...(metadata === null ? {} : ofDocument(metadata, shown)),
    status,
    // A URI that contains the document itself is no link.
    ...(uri === null || /^(?:data:|\{)/i.test(uri) ? {} : { metadata_url: shown(uri) }),
  };
}

/** Contract-level metadata (ERC-7572), at least the name. Null when there is none. */
function nftCollection(
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

/** Contract record from the index. */
function nftContract(
  chainId: number,
  { token: address, type }: InstanceKey,
  token: TokenRow | undefined,
): InsightsSchemas['NftContract'] {
  return {
    chain_id: chainId,
    address,
    ...text('name', token?.name),
    ...text('symbol', token?.symbol),
    type: nftKind(type),
  };
}

/** Converts a standard to the API contract's spelling. */
export function nftKind(type: NftType): 'erc721' | 'erc1155' {
  return type === 'ERC-1155' ? 'erc1155' : 'erc721';
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

/** Traits, usually a list of objects. Other list items are dropped. */
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
