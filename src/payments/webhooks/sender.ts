import {
  FetchFailure,
  type FetchFailureKind,
  type GuardedFetchOptions,
  guardedFetch,
} from '../../http/fetch/guarded-fetch.ts';
import type { AttemptResult } from '../model/webhook.ts';

/** What came of sending: `error` says in words for the merchant why it is no success. */
export type SendResult = Pick<AttemptResult, 'isSuccess' | 'responseCode' | 'responseTimeMs' | 'error'>;

/** One request to a receiver. */
export interface OutgoingRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Sent as UTF-8. */
  readonly body: string;
}

/** Sends to addresses that strangers named. */
export interface WebhookSender {
  /** Never rejects: whatever happens is a result. */
  send(request: OutgoingRequest): Promise<SendResult>;
  /** Breaks off what is being sent. */
  close(): Promise<void>;
}

/** What the operator allows beyond https to public addresses. */
export interface ReceiverRules {
  /** Networks, as CIDRs or addresses, that may be reached although they are not public. */
  readonly allowedNetworks: readonly string[];
  readonly allowHttp: boolean;
}

/** From the request to the headers of the answer. Document 3, "Webhook delivery". */
const TIMEOUT_MS = 30_000;
/** What is read of an answer, to be dropped. Decision 123. */
const MAX_ANSWER_BYTES = 65_536;

/**
 * Sends without following redirects, and to public addresses only, unless the operator allows others.
 * @throws when made, for an allowed network that is none.
 */
export function webhookSender(
  options: Pick<GuardedFetchOptions, 'allowedNetworks' | 'allowHttp' | 'lookup' | 'log'> & {
    /** 30 s when absent. */
    timeoutMs?: number;
  },
): WebhookSender {
  const { timeoutMs = TIMEOUT_MS } = options;
  const guarded = guardedFetch({
    ...options,
    timeoutMs,
    maxBytes: MAX_ANSWER_BYTES,
    // Many webhooks share a host: whoever waited there for one of them that hangs would fail for no fault of their own.
    connectionsPerHost: 'unlimited',
  });
  return {
    async send({ url, headers, body }) {
      const startedAt = performance.now();
      try {
        const responseCode = await guarded.statusOf({ url, method: 'POST', headers, body });
        const responseTimeMs = Math.round(performance.now() - startedAt);
        const isSuccess = responseCode >= 200 && responseCode < 300;
        return { isSuccess, responseCode, responseTimeMs, error: isSuccess ? null : refusal(responseCode) };
      } catch (error) {
        return {
          isSuccess: false,
          responseCode: null,
          responseTimeMs: null,
          error: reason(error, timeoutMs),
        };
      }
    },
    close: () => guarded.close(),
  };
}

function refusal(status: number): string {
  const isRedirect = status >= 300 && status < 400;
  return `The receiver answered ${status}${isRedirect ? '; redirects are not followed' : ''}.`;
}

/** One text for a name without an address, an address that is not allowed and one that does not answer: apart, they would tell of the names and hosts of the operator's own network. */
const UNREACHABLE = 'The receiver could not be reached at any public address of its name.';

const REASONS: Readonly<Partial<Record<FetchFailureKind, string>>> = {
  refused: UNREACHABLE,
  unreachable: UNREACHABLE,
};

function reason(error: unknown, timeoutMs: number): string {
  if (!(error instanceof FetchFailure)) return 'The request could not be sent.';
  if (error.kind === 'timeout') return `No answer came within ${timeoutMs / 1000} seconds.`;
  if (error.kind === 'unreachable') {
    const known = REASONS_BY_CODE.find(([codes]) => codes.test(codeOf(error.cause)));
    if (known !== undefined) return known[1];
  }
  return REASONS[error.kind] ?? 'The request could not be sent.';
}

/** Of Node and OpenSSL; an error without one is `UNREACHABLE`. */
const REASONS_BY_CODE: readonly (readonly [codes: RegExp, said: string])[] = [
  [/^ECONNREFUSED$/, 'The receiver refused the connection.'],
  [/^(ECONNRESET|EPIPE|UND_ERR_SOCKET)$/, 'The receiver ended the connection without an answer.'],
  [/CERT|SELF_SIGNED|UNABLE_TO_/, 'The receiver’s certificate is not valid for its name.'],
];

function codeOf(error: unknown): string {
  const code: unknown = error instanceof Error ? Reflect.get(error, 'code') : undefined;
  return typeof code === 'string' ? code : '';
}
