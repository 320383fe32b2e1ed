import type { Lie } from '../../lab/faulty-node.ts';

/** Changes each receipt of a block, wherever the node shows it. */
export function inReceipts(change: (receipt: object) => object): Lie {
  return ({ method }, answer) => {
    if (method === 'eth_getBlockReceipts' && Array.isArray(answer)) return answer.map(change);
    if (method === 'eth_getTransactionReceipt' && answer !== null) return change(Object(answer));
    return undefined;
  };
}

/** Changes each log that the node finds. */
export function inLogs(change: (log: object) => object): Lie {
  return ({ method }, answer) =>
    method === 'eth_getLogs' && Array.isArray(answer) ? answer.map(change) : undefined;
}

/** Tells the first of these lies that concerns the call. */
export function together(...lies: readonly Lie[]): Lie {
  return (call, answer, real) => {
    for (const lie of lies) {
      const told = lie(call, answer, real);
      if (told !== undefined) return told;
    }
    return undefined;
  };
}

const withoutLastLog = (receipt: object) => ({ ...receipt, logs: Object(receipt).logs.slice(0, -1) });
const withoutLogs = (receipt: object) => ({ ...receipt, logs: [], logsBloom: `0x${'00'.repeat(256)}` });

/** Answers that do not fit the hash of a block with one payment. */
export const CONTRADICTIONS: readonly (readonly [string, Lie])[] = [
  ['leaves out a log of a receipt', inReceipts(withoutLastLog)],
  ['leaves out the logs and their bloom', inReceipts(withoutLogs)],
  ['sends blooms of zeros', inReceipts(one => ({ ...one, logsBloom: `0x${'00'.repeat(256)}` }))],
  ['changes a status', inReceipts(one => ({ ...one, status: '0x0' }))],
  [
    'leaves out a receipt',
    ({ method }, answer) =>
      method === 'eth_getBlockReceipts' && Array.isArray(answer) ? answer.slice(1) : undefined,
  ],
  [
    'leaves out the transactions',
    ({ method }, answer) =>
      method === 'eth_getBlockByHash' ? { ...Object(answer), transactions: [] } : undefined,
  ],
];

/** Finds no logs. */
export const hidesLogs: Lie = ({ method }) => (method === 'eth_getLogs' ? [] : undefined);
