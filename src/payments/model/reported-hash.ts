/**
 * What the nodes of a chain say about a hash that a payer reported (Decision 362):
 * - `searching`: they are still to be asked
 * - `unknown`: they have no such transaction
 * - `pending`: it is in a pool and in no block
 * - `failed`: it is in a block and failed
 * - `disputed`: they show different blocks or transfers
 * - `mined`: it is in a block, and what it transfers is recorded
 */
export type HashStatus = 'searching' | 'unknown' | 'pending' | 'failed' | 'disputed' | 'mined';
