/** One request of a fuzzing run. */
export interface FuzzRequest {
  readonly method: string;
  /** Path and query, as sent. */
  readonly target: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: string | undefined;
  /** Bytes to send, for requests that an HTTP client would refuse or repair. */
  readonly bytes?: Buffer;
  /** False when path, method or framing changed, so that another operation or none may answer. */
  readonly isAimed: boolean;
}

const FRAMING = /^(connection|content-length|expect|host|keep-alive|te|trailer|transfer-encoding|upgrade)$/i;
const LONGEST_SHOWN = 600;

/** True when an HTTP client can send the request unchanged. */
export function isWellFormed({ method, target, headers }: FuzzRequest): boolean {
  const names = headers.map(([name]) => name.toLowerCase());
  return (
    /^(GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS)$/.test(method) &&
    /^\/[\x21-\x7e]*$/.test(target) &&
    new Set(names).size === names.length &&
    headers.every(
      ([name, value]) => /^[a-z-]+$/i.test(name) && !FRAMING.test(name) && /^[\x20-\x7e]*$/.test(value),
    )
  );
}

/** Bytes of the request in HTTP/1.1. The connection closes after the answer. */
export function serialized({ method, target, headers, body }: FuzzRequest): Buffer {
  const length = body === undefined ? [] : [`Content-Length: ${Buffer.byteLength(body)}`];
  const lines = [`${method} ${target} HTTP/1.1`, 'Host: localhost', 'Connection: close', ...length];
  const own = headers.map(([name, value]) => `${name}: ${value}`);
  return Buffer.concat([
    Buffer.from(`${[...lines, ...own].join('\r\n')}\r\n\r\n`, 'latin1'),
    Buffer.from(body ?? ''),
  ]);
}

/** Formats the request on one line, without secrets. */
export function shown(request: FuzzRequest, secrets: readonly string[]): string {
  const text =
    request.bytes === undefined
      ? JSON.stringify([request.method, request.target, Object.fromEntries(request.headers), request.body])
      : `bytes ${JSON.stringify(request.bytes.toString('latin1'))}`;
  const open = secrets.reduce((line, secret) => line.replaceAll(secret, '…'), text);
  return open.length > LONGEST_SHOWN ? `${open.slice(0, LONGEST_SHOWN)}…` : open;
}
