import {
  FetchFailure,
  type FetchFailureKind,
  type GuardedFetchOptions,
  type GuardedRequest,
  guardedFetch,
} from '../../http/fetch/guarded-fetch.ts';
import type { AttemptResult } from '../model/webhook.ts';

/** Result of sending. `error` is a sentence for the merchant that explains the failure. */
export type SendResult = Pick<
  AttemptResult,
  'isSuccess' | 'responseCode' | 'responseTimeMs' | 'error' | 'responseBody'
>;

/** One request to a receiver. */
interface ReceiverRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Sent as UTF-8. */
  readonly body: string;
  /** True when the beginning of the answer is wanted; false when absent. */
  readonly storeResponses?: boolean;
}

/** Sends requests to addresses that users entered, which are not trusted. */
export interface WebhookSender {
  /** Never rejects: a failure is a result. */
  send(request: ReceiverRequest): Promise<SendResult>;
  /** Aborts requests in flight. */
  close(): Promise<void>;
}

/** Receivers that the operator allows besides https on public addresses. */
export interface ReceiverRules {
  /** Non-public networks that may be reached, as CIDRs or addresses. */
  readonly allowedNetworks: readonly string[];
  readonly allowHttp: boolean;
  /** Networks whose answers may be kept, in addition to public ones; none when absent, as in every service. */
  readonly keptNetworks?: readonly string[];
}

/** Time from the request to the headers of the answer. Source: document 3, "Webhook delivery". */
const TIMEOUT_MS = 30_000;
/** Most bytes of an answer's body that are read, of which the rest is dropped (Decision 123). */
const MAX_ANSWER_BYTES = 65_536;
/** Bytes of an answer that are kept. */
const STORED_BYTES = 2_048;

/**
 * Sender that follows no redirects and reaches only public addresses, unless the operator allows others.
 * @throws Error when an allowed network is not a valid network
 */
export function webhookSender(
  options: Pick<GuardedFetchOptions, 'allowedNetworks' | 'allowHttp' | 'lookup' | 'log'> & {
    /** 30 s when absent. */
    timeoutMs?: number;
  } & Pick<ReceiverRules, 'keptNetworks'>,
): WebhookSender {
  const { timeoutMs = TIMEOUT_MS, keptNetworks = [] } = options;
  const fetchOptions = {
    ...options,
    timeoutMs,
    maxBytes: MAX_ANSWER_BYTES,
    // Many webhooks share a host. With a limit, one that hangs would delay the others until they fail.
    connectionsPerHost: 'unlimited',
  } as const;
  const guarded = guardedFetch(fetchOptions);
  const onlyPublic = guardedFetch({ ...fetchOptions, allowedNetworks: keptNetworks });

  /** Tries public addresses alone first: only their answers may be kept. A refused address got no request. */
  async function sendForAnswer(request: GuardedRequest): Promise<Answer> {
    try {
      const { status, beginning } = await onlyPublic.beginningOf(request, STORED_BYTES);
      return { status, responseBody: beginning === undefined ? null : textOf(beginning) };
    } catch (error) {
      if (!(error instanceof FetchFailure && error.kind === 'refused')) throw error;
      return sendOnly(request);
    }
  }

  async function sendOnly(request: GuardedRequest): Promise<Answer> {
    return { status: await guarded.statusOf(request), responseBody: null };
  }

  return {
    async send({ url, headers, body, storeResponses = false }) {
      const startedAt = performance.now();
      try {
        const request = { url, method: 'POST', headers, body } as const;
        const { status, responseBody } = storeResponses
          ? await sendForAnswer({ ...request, headers: { ...headers, 'accept-encoding': 'identity' } })
          : await sendOnly(request);
        const responseTimeMs = Math.round(performance.now() - startedAt);
        const isSuccess = status >= 200 && status < 300;
        const error = isSuccess ? null : refusal(status);
        return { isSuccess, responseCode: status, responseTimeMs, error, responseBody };
      } catch (error) {
        return {
          isSuccess: false,
          responseCode: null,
          responseTimeMs: null,
          error: reason(error, timeoutMs),
          responseBody: null,
        };
      }
    },
    close: async () => void (await Promise.all([guarded.close(), onlyPublic.close()])),
  };
}

interface Answer {
  readonly status: number;
  readonly responseBody: string | null;
}

/** Text of bytes that may end within a character, which is left out. */
function textOf(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes, { stream: true });
}

function refusal(status: number): string {
  const isRedirect = status >= 300 && status < 400;
  return `The receiver answered ${status}${isRedirect ? '; redirects are not followed' : ''}.`;
}

/**
 * The same text for an unknown name, a forbidden address and a silent address. Different texts would reveal names and
 * hosts of the operator's own network.
 */
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

/** Error codes of Node and OpenSSL, with their texts. Other errors are `UNREACHABLE`. */
const REASONS_BY_CODE: readonly (readonly [codes: RegExp, said: string])[] = [
  [/^ECONNREFUSED$/, 'The receiver refused the connection.'],
  [/^(ECONNRESET|EPIPE|UND_ERR_SOCKET)$/, 'The receiver ended the connection without an answer.'],
  [/CERT|SELF_SIGNED|UNABLE_TO_/, 'The receiver’s certificate is not valid for its name.'],
];

function codeOf(error: unknown): string {
  const code: unknown = error instanceof Error ? Reflect.get(error, 'code') : undefined;
  return typeof code === 'string' ? code : '';
}
