import {
  BaseError,
  HttpRequestError,
  LimitExceededRpcError,
  TimeoutError,
  WebSocketRequestError,
} from 'viem';

/**
 * Whether the node itself answered with an error (no such method, execution reverted, state pruned):
 * asking again will not help. False when the node was not reached, was too slow, or asked for patience.
 */
export function nodeAnswered(error: unknown): boolean {
  if (!(error instanceof BaseError)) return false;
  const passing = error.walk(
    cause =>
      cause instanceof HttpRequestError ||
      cause instanceof TimeoutError ||
      cause instanceof WebSocketRequestError ||
      cause instanceof LimitExceededRpcError,
  );
  return passing === null;
}
