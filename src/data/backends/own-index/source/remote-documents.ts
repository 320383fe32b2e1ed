import { FetchFailure, type FetchFailureKind } from '#http/fetch/guarded-fetch.ts';
import { type LinkedHostRules, linkedHosts } from '#http/fetch/linked-hosts.ts';
import type { Clock } from '#lib/clock.ts';
import type { Logger } from '#lib/logger.ts';
import {
  type FetchDocument,
  type FetchedDocument,
  type MetadataDocuments,
  metadataDocuments,
} from './metadata-documents.ts';

export interface RemoteDocuments {
  readonly documents: MetadataDocuments;
  close(): Promise<void>;
}

/** Deadline of one document from request to last byte, in milliseconds. */
const TIMEOUT_MS = 5_000;
const MAX_BYTES = 512 * 1024;

/** Content types accepted as JSON. Gateways without type information send the last two. */
const TYPES = [
  'application/json',
  'text/json',
  'application/ld+json',
  'text/plain',
  'application/octet-stream',
  'binary/octet-stream',
];

const STATUSES: Readonly<Record<FetchFailureKind, Exclude<FetchedDocument['status'], 'ok'>>> = {
  refused: 'refused',
  redirected: 'refused',
  timeout: 'timeout',
  abandoned: 'timeout',
  unreachable: 'unreachable',
  too_long: 'too_long',
  wrong_type: 'unreadable',
  unreadable: 'unreadable',
};

/** Reader of documents on remote hosts. One instance serves all chains, which share its cache. */
export function remoteDocuments(options: {
  /** Without a slash at its end. */
  ipfsGateway: string;
  clock: Clock;
  log: Logger;
  rules?: LinkedHostRules | undefined;
}): RemoteDocuments {
  const { ipfsGateway, clock, log, rules } = options;
  const hosts = linkedHosts({ ipfsGateway, timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES, rules, log });
  const fetchDocument: FetchDocument = async (url, from) => {
    try {
      const { status, bytes } = await hosts[from].fetch({ url, types: TYPES });
      return status === 200
        ? { status: 'ok', text: new TextDecoder().decode(bytes) }
        : { status: 'unreachable' };
    } catch (error) {
      return { status: error instanceof FetchFailure ? STATUSES[error.kind] : 'unreachable' };
    }
  };
  return {
    documents: metadataDocuments({ fetchDocument, ipfsGateway, clock }),
    close: hosts.close,
  };
}
