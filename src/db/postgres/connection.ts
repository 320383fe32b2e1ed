import { Socket } from 'node:net';
import pg from 'pg';
import { inTime } from '../../lib/in-time.ts';
import { hostAddresses, postgresAddress } from './address.ts';
import { type PostgresOptions, STATEMENT_TIMEOUT_MS } from './options.ts';
import { applySettings } from './settings.ts';

/** Time beyond the statement timeout in which a reachable server has answered, at least with an error. */
const SILENCE_BEYOND_MS = 10_000;
/** Maximum time to connect to one host, and to ask it whether it can be written. */
const CONNECT_MS = 5_000;

/** Options of the driver for a connection to one host. */
export type HostConfig = ReturnType<typeof connectionOf>;

/** Opens a connection to the host of an address that can be written. */
export type Connect = (open: (config: HostConfig) => Promise<pg.Client>) => Promise<pg.Client>;

/**
 * Finds the host of an address that can be written. Several hosts, such as a primary and its standbys, are asked in
 * turn, beginning with the last one that could be written, so that after a failover the new primary is found. A server
 * may be silent for longer while `isPatient`.
 */
export function connecting(options: PostgresOptions, isPatient: () => boolean = () => false): Connect {
  let hosts = hostAddresses(options.url).map(url => connectionOf({ ...options, url }, isPatient));
  return async open => {
    const failures: unknown[] = [];
    for (const host of hosts) {
      try {
        const client = await open(host);
        if (hosts.length > 1) await requireWritable(client);
        hosts = [host, ...hosts.filter(other => other !== host)];
        return client;
      } catch (error) {
        failures.push(error);
      }
    }
    throw failures.length === 1 ? failures[0] : new AggregateError(failures);
  };
}

/** @throws for a hot standby, and for a server that was made read-only */
async function requireWritable(client: pg.Client): Promise<void> {
  try {
    const { rows } = await inTime(client.query('show transaction_read_only'), CONNECT_MS);
    if (rows[0]?.transaction_read_only !== 'off') throw new Error(`${client.host} can only be read`);
  } catch (error) {
    client.connection.stream.destroy();
    throw error;
  }
}

/** Options of the driver for the address of one host. */
function connectionOf(options: PostgresOptions, isPatient: () => boolean) {
  const { url, tls, statementTimeoutMs = STATEMENT_TIMEOUT_MS } = options;
  const { silenceMs = statementTimeoutMs + SILENCE_BEYOND_MS } = options;
  return {
    ...postgresAddress(url, tls),
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
  const client = await connecting({ ...options, url: listenUrl })(async config => {
    const opened = new pg.Client(config);
    opened.on('error', () => undefined);
    await opened.connect();
    return opened;
  });
  try {
    return await applySettings(client, {});
  } finally {
    await client.end();
  }
}
