import { addColumn, type Migration, table } from '#db/migrate.ts';

/**
 * Marks recipients that a watcher has in memory, so that it reads only new ones. A new leader reads all recipients, so
 * existing ones count as read. Processes of older versions leave the column null, so their recipients count as new.
 */
const READ_RECIPIENTS_MIGRATION: Migration = {
  name: 'read recipients',
  up: [
    addColumn('watched_recipients', 'read_at', 'time'),
    'update watched_recipients set read_at = 0',
    `create index watched_recipients_unread on watched_recipients (chain_id, token_address, recipient_address)
     where read_at is null`,
  ],
};

/**
 * Transactions whose receipt no node could return. Their payments and unmatched transfers stay unconfirmed, and the
 * receipt is asked for again later. Processes of older versions do not know the table and ask at every look.
 */
const SET_ASIDE_MIGRATION: Migration = {
  name: 'transactions set aside',
  up: [
    table(
      'set_aside_transactions',
      {
        id: ['text', 'primary key'],
        chain_id: ['count', 'not null'],
        tx_hash: ['text', 'not null'],
        reason: ['text', 'not null'],
        attempts: ['count', 'not null'],
        set_aside_at: ['time', 'not null'],
        attempted_at: ['time', 'not null'],
        next_attempt_at: ['time', 'not null'],
      },
      ['unique (chain_id, tx_hash)'],
    ),
  ],
};

/**
 * Last blocks of finished scans. A look compares their hashes with the chain and so finds where a reorganisation began.
 * Processes of older versions write none. A chain without rows is scanned from its cursor.
 */
const SCANNED_BLOCKS_MIGRATION: Migration = {
  name: 'scanned blocks',
  up: [
    table(
      'scanned_blocks',
      {
        chain_id: ['count', 'not null'],
        block_number: ['count', 'not null'],
        block_hash: ['text', 'not null'],
        seen_at: ['time', 'not null'],
      },
      ['primary key (chain_id, block_number)'],
    ),
  ],
};

/**
 * Block times of the heads that scans have reached. Sessions end by them. Processes of older versions leave them behind,
 * so that sessions end later.
 */
const HEAD_TIMES_MIGRATION: Migration = {
  name: 'head times',
  up: [addColumn('chain_cursors', 'head_time', 'time')],
};

/** For the turns of organizations among the payments and transfers of a chain that wait for their confirmations. */
const TURNS_MIGRATION: Migration = {
  name: 'turns of organizations',
  up: [
    `create index transactions_confirming on transactions (chain_id, organization_id, mode, block_number, log_index)
     where status = 'confirming'`,
    `create index transfers_to_list on unmatched_transfers (chain_id, organization_id, mode, block_number, id, block_hash, tx_hash)
     where confirmed_at is null`,
  ],
};

/**
 * Blocks whose logs or coins no answer could hold. They are read in pieces, and asked for again. Coins of a chain may be
 * read up to another block than logs; a process of an older version reads both from the same block.
 */
const SET_ASIDE_BLOCKS_MIGRATION: Migration = {
  name: 'blocks set aside',
  up: [
    addColumn('chain_cursors', 'coins_block', 'count'),
    table(
      'set_aside_blocks',
      {
        id: ['text', 'primary key'],
        chain_id: ['count', 'not null'],
        // `tokens`, `coins` or `traces`.
        part: ['text', 'not null'],
        block_number: ['count', 'not null'],
        block_hash: ['text', 'not null'],
        block_time: ['time', 'not null'],
        // Transactions before this one were tried.
        next_transaction: ['count', 'not null'],
        // Places of those that could not be read, as JSON.
        unread: ['text', 'not null'],
        reason: ['text', 'not null'],
        attempts: ['count', 'not null'],
        set_aside_at: ['time', 'not null'],
        attempted_at: ['time', 'not null'],
        next_attempt_at: ['time', 'not null'],
        // Set once all of it was read. The scan passes over it until it is old.
        read_at: 'time',
      },
      ['unique (chain_id, part, block_number)'],
    ),
  ],
};

/**
 * Blocks from which on coins are read from logs. Processes of older versions read them from transactions in every block:
 * all are upgraded before a chain has such logs.
 */
export const COIN_LOGS_MIGRATION: Migration = {
  name: 'logs of coins',
  up: [addColumn('chain_cursors', 'coin_logs_from', 'count')],
};

/**
 * Blocks up to which the traces of a chain were read, and the trace method of its nodes. Processes of older versions read
 * no traces.
 */
export const TRACES_MIGRATION: Migration = {
  name: 'traces of coins',
  up: [
    addColumn('chain_cursors', 'traced_block', 'count'),
    addColumn('chain_cursors', 'traced_hash', 'text'),
    addColumn('chain_cursors', 'traced_time', 'time'),
    addColumn('chain_cursors', 'traced_by', 'text'),
  ],
};

/** The block up to which transfers were read from proven blocks. Processes of older versions read none. */
export const PROVEN_BLOCKS_MIGRATION: Migration = {
  name: 'proven blocks',
  up: [
    addColumn('chain_cursors', 'proven_block', 'count'),
    addColumn('chain_cursors', 'proven_hash', 'text'),
  ],
};

/** State of the watchers of chains. */
export const WATCHING_MIGRATIONS: readonly Migration[] = [
  READ_RECIPIENTS_MIGRATION,
  SET_ASIDE_MIGRATION,
  SCANNED_BLOCKS_MIGRATION,
  HEAD_TIMES_MIGRATION,
  TURNS_MIGRATION,
  SET_ASIDE_BLOCKS_MIGRATION,
];
