import { Socket } from 'node:net';
import pg from 'pg';
import { addressOf } from './address.ts';
import { type PostgresOptions, STATEMENT_TIMEOUT_MS } from './options.ts';
import { applySettings } from './settings.ts';

/** Time beyond the statement timeout in which a reachable server has answered, at least with an error. */
const SILENCE_BEYOND_MS = 10_000;

/** Maximum time to connect. */
const CONNECT_MS = 5_000;
/** Connection options of the driver. The server may be silent for longer while `isPatient`. */
export function connectionOf(options: PostgresOptions, isPatient: () => boolean = () => false) {
  const { url, tls, statementTimeoutMs = STATEMENT_TIMEOUT_MS } = options;
  const { silenceMs = statementTimeoutMs + SILENCE_BEYOND_MS } = options;
  return {
    ...addressOf(url, tls),
    application_name: 'tollgate',
    connectionTimeoutMillis: CONNECT_MS,
    keepAlive: true,
    stream: () => socketWithDeadline(silenceMs, isPatient),
  };
}

/**
 * Socket that fails after a period without traffic. Keep-alive does not detect a dead network while data awaits
 * acknowledgement: the operating system then retransmits for a quarter of an hour.
 */
function socketWithDeadline(silenceMs: number, isPatient: () => boolean): Socket {
  const socket = new Socket();
  socket.setTimeout(silenceMs);
  socket.on('timeout', () => {
    // Emitted once per idle period.
    if (isPatient()) socket.setTimeout(silenceMs);
    else socket.destroy(new Error(`PostgreSQL gave no answer for ${silenceMs} ms.`));
  });
  return socket;
}

/** True when a pooler stands in front of the address for LISTEN, so that no notifications arrive. */
export async function listensThroughPooler(options: PostgresOptions): Promise<boolean> {
  const { listenUrl = options.url } = options;
  const client = new pg.Client(connectionOf({ ...options, url: listenUrl }));
  client.on('error', () => undefined);
  try {
    await client.connect();
    return await applySettings(client, {});
  } finally {
    await client.end();
  }
}
