import type { CountedClient, WaitingClients } from '#lib/request-counters.ts';
import { QueriesBusy } from '../query.ts';

/** Turn of a client, in which one of its queries runs. */
export interface Turn {
  /** Undefined for a client that is not counted. */
  readonly client: CountedClient | undefined;
  /** Begins the client's next turn. */
  end(): void;
}

/** A wait in a queue. */
export interface Wait<Taken> {
  readonly taken: Promise<Taken>;
  /** Rejects `taken` with the reason, unless the wait is over. */
  leave(reason: unknown): void;
}

/** Query that waits for a turn of any of its clients. */
interface Waiting {
  readonly clients: WaitingClients;
  begin(client: CountedClient | undefined): void;
}

/** Waiting queries of a client, by the answer that they belong to. */
type Queue = Map<WaitingClients, Waiting[]>;

/**
 * Turns of clients. A client has one at a time, and its other queries wait in their order. A query for several clients
 * takes the first turn of any of them, so that no client waits behind the queries of another one.
 * The turns of a client that is not counted are unlimited.
 */
export function clientTurns({ mostWaiting }: { readonly mostWaiting: number }) {
  /** Queues of the clients that have a turn. */
  const queues = new Map<string, Queue>();

  /**
   * Queues for a turn.
   * @throws QueriesBusy when queries for `mostWaiting` other answers wait with each of the clients
   */
  function take(clients: WaitingClients): Wait<Turn> {
    const { promise: taken, resolve, reject } = Promise.withResolvers<Turn>();
    let isTaken = false;
    const waiting: Waiting = {
      clients,
      begin(client) {
        isTaken = true;
        remove(waiting);
        resolve(client === undefined ? UNCOUNTED : { client, end: () => next(client) });
      },
    };
    const join = (client: CountedClient | undefined) => isTaken || enter(waiting, client);
    if (![...clients.all].map(join).includes(true)) throw new QueriesBusy();
    const unwatch = isTaken ? () => undefined : clients.watch(join);
    taken.finally(unwatch).catch(() => undefined);
    return {
      taken,
      leave(reason) {
        if (isTaken) return;
        remove(waiting);
        reject(reason);
      },
    };
  }

  /** Takes the client's turn if it is free, else queues. Returns false when the queue is full. */
  function enter(waiting: Waiting, client: CountedClient | undefined): boolean {
    const queue = client && queues.get(client.key);
    if (queue === undefined) {
      if (client !== undefined) queues.set(client.key, new Map());
      waiting.begin(client);
      return true;
    }
    const others = queue.get(waiting.clients);
    if (others === undefined && queue.size >= mostWaiting) return false;
    if (others === undefined) queue.set(waiting.clients, [waiting]);
    else others.push(waiting);
    return true;
  }

  function next(client: CountedClient): void {
    const [first] = queues.get(client.key)?.values().next().value ?? [];
    if (first === undefined) queues.delete(client.key);
    else first.begin(client);
  }

  function remove(waiting: Waiting): void {
    for (const client of waiting.clients.all) {
      const queue = client && queues.get(client.key);
      const others = queue?.get(waiting.clients)?.filter(other => other !== waiting) ?? [];
      if (others.length > 0) queue?.set(waiting.clients, others);
      else queue?.delete(waiting.clients);
    }
  }

  return { take };
}

const UNCOUNTED: Turn = { client: undefined, end: () => undefined };
