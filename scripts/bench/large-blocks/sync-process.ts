/**
 * Syncs a chain into an empty database and reports the rates, and the largest resident set in bytes, over IPC. Runs as a
 * separate process, so that nothing else uses its memory. Arguments: address of the node, number of blocks, a file or the
 * URL of a PostgreSQL.
 */
import { benchSync } from '../sync.ts';

const [rpcUrl = '', blocks = '', place = ''] = process.argv.slice(2);
const database = place.startsWith('postgres') ? ({ kind: 'postgres', url: place } as const) : { file: place };
const rates = await benchSync({ rpcUrl, blocks: Number(blocks), database });
process.send?.({ ...rates, mostBytes: process.resourceUsage().maxRSS * 1024 });
