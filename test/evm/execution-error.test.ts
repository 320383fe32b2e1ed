import { expect, test } from 'vitest';
import { isExecutionError, isOutOfGas } from '../../src/node/contract-refusal.ts';

/** Answers of nodes to `eth_call`, in the words of their sources; see the patterns. */
const OF_CONTRACTS: readonly [client: string, code: number, message: string, data?: string][] = [
  ['geth', 3, 'execution reverted: missing trie node'],
  ['geth before 1.9.15', -32_000, 'execution reverted'],
  ['geth', -32_000, 'out of gas'],
  ['geth', -32_000, 'err: out of gas (supplied gas 1000000)'],
  ['geth', -32_000, 'invalid opcode: INVALID'],
  ['geth', -32_000, 'invalid jump destination'],
  ['geth', -32_000, 'stack underflow (0 <=> 2)'],
  ['geth', -32_000, 'stack limit reached 1024 (1023)'],
  ['erigon', -32_000, 'write protection'],
  ['nethermind', -32_003, 'out of gas'],
  ['nethermind before 1.33', -32_015, 'VM execution error.', 'err: OutOfGas (supplied gas 1000000)'],
  ['nethermind', -32_000, 'StackUnderflow'],
  ['besu', -32_000, 'Execution reverted'],
  ['besu', -32_000, 'Transaction processing could not be completed due to an exception: Out of gas'],
  ['besu', -32_000, 'Bad jump destination'],
  ['reth', -32_003, 'out of gas: gas required exceeds: 1000000'],
  ['reth', -32_003, 'EVM error: InvalidFEOpcode'],
  ['anvil', -32_603, 'EVM error OutOfGas'],
  ['anvil', -32_003, 'Out of gas: gas required exceeds allowance: 1000000'],
  ['hardhat', -32_000, 'Transaction ran out of gas'],
  ['hardhat', -32_000, 'VM Exception while processing transaction: invalid opcode'],
  ['hardhat', -32_000, 'InvalidJump'],
];

test.for(OF_CONTRACTS)('%s: %i %s is an answer of the contract', ([, code, message]) => {
  expect(isExecutionError({ code, message })).toBe(true);
});

test.for([
  ['geth', -32_000, 'missing trie node 5a1c (path ) state 0x5a1c is not available, not found'],
  ['geth', -32_000, 'header not found'],
  ['geth', -32_000, 'required historical state unavailable (reexec=128)'],
  ['geth', -32_000, 'execution aborted (timeout = 5s)'],
  ['erigon', -32_000, 'block with number 17 is pruned'],
  ['nethermind', -32_002, 'No state available for block 0x11'],
  ['besu', -32_000, 'World state unavailable'],
  ['besu', -32_603, 'Internal error'],
  ['reth', -32_001, 'block not found: 0x11'],
  ['anvil', -32_602, 'BlockOutOfRangeError: block height is 17 but requested was 18'],
  ['hardhat', -32_602, 'Received invalid block tag 18. Latest block number is 17'],
  ['a provider', -32_005, 'daily request count exceeded, request rate limited'],
  ['a proxy', -32_000, 'upstream timed out'],
] as const)('%s: %i %s is an answer of the node', ([, code, message]) => {
  expect(isExecutionError({ code, message })).toBe(false);
});

test('too little gas is distinguished from other answers of the contract', () => {
  const heavy = OF_CONTRACTS.filter(([, code, message, data]) => isOutOfGas({ code, message, data }));

  expect(heavy.map(([client, , message]) => `${client}: ${message}`)).toEqual([
    'geth: out of gas',
    'geth: err: out of gas (supplied gas 1000000)',
    'nethermind: out of gas',
    'nethermind before 1.33: VM execution error.',
    'besu: Transaction processing could not be completed due to an exception: Out of gas',
    'reth: out of gas: gas required exceeds: 1000000',
    'anvil: EVM error OutOfGas',
    'anvil: Out of gas: gas required exceeds allowance: 1000000',
    'hardhat: Transaction ran out of gas',
  ]);
  expect(isOutOfGas({ code: -32_000, message: 'execution reverted: out of gas' })).toBe(false);
});
