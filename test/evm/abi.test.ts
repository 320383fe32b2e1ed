import {
  encodeAbiParameters,
  encodeErrorResult,
  encodeEventTopics,
  encodeFunctionData,
  erc20Abi,
  erc721Abi,
  erc1155Abi,
  getAddress,
  keccak256,
  pad,
  parseAbi,
  toHex,
} from 'viem';
import { expect, test } from 'vitest';
import { knownAbis } from '../../src/evm/abi/abi.ts';
import { SYSTEM_ADDRESS } from '../../src/evm/coin-logs.ts';

const ADDRESS = getAddress('0x00000000000000000000000000000000000000aa');
const OTHER = getAddress('0x5fbdb2315678afecb367f032d93f642f64180aa3');
const own = parseAbi([
  'function transfer(address recipient, uint256 wad)',
  'function place((uint256 id, address who)[] orders, bytes4 tag, string note)',
  'event Noted(string indexed note, uint256[] amounts)',
  'error TooMuch(address who, uint256 wanted, string why)',
]);
const abis = knownAbis([{ address: ADDRESS, abi: own, name: 'Shop' }]);

test('a standard call is decoded for any contract, and a contract’s own names take precedence', () => {
  const input = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [OTHER, 5n] });

  expect(abis.decodeInput({ to: OTHER, input })).toEqual({
    signature: 'transfer(address recipient, uint256 amount)',
    selector: '0xa9059cbb',
    parameters: [
      { name: 'recipient', type: 'address', value: OTHER },
      { name: 'amount', type: 'uint256', value: '5' },
    ],
  });
  expect(abis.decodeInput({ to: ADDRESS, input })?.signature).toBe(
    'transfer(address recipient, uint256 wad)',
  );
});

test('arrays and tuples become JSON with exact integers', () => {
  const big = 2n ** 255n;
  const input = encodeFunctionData({
    abi: own,
    functionName: 'place',
    args: [[{ id: big, who: OTHER }], '0x12345678', 'hello'],
  });

  const decoded = abis.decodeInput({ to: ADDRESS, input });

  expect(decoded?.signature).toBe('place((uint256,address)[] orders, bytes4 tag, string note)');
  expect(decoded?.parameters.map(({ value }) => value)).toEqual([
    JSON.stringify([{ id: big.toString(), who: OTHER }]),
    '0x12345678',
    'hello',
  ]);
});

test('ERC-20 and ERC-721 transfers are distinguished by their topics', () => {
  const [topic] = encodeEventTopics({ abi: erc20Abi, eventName: 'Transfer' });
  const from = pad(OTHER, { size: 32 });
  const fungible = abis.decodeLog({
    address: OTHER,
    topics: [topic, from, from],
    data: pad('0x07', { size: 32 }),
  });
  const unique = abis.decodeLog({
    address: OTHER,
    topics: [topic, from, from, pad('0x09', { size: 32 })],
    data: '0x',
  });

  expect(fungible?.parameters.map(({ value, indexed }) => [value, indexed])).toEqual([
    [OTHER, true],
    [OTHER, true],
    ['7', false],
  ]);
  expect(unique?.parameters[2]).toMatchObject({ type: 'uint256', value: '9', indexed: true });
});

test('an ERC-1155 batch shows its arrays', () => {
  const topics = encodeEventTopics({
    abi: erc1155Abi,
    eventName: 'TransferBatch',
    args: { operator: OTHER, from: OTHER, to: ADDRESS },
  });
  const data = encodeAbiParameters(
    [{ type: 'uint256[]' }, { type: 'uint256[]' }],
    [
      [1n, 2n],
      [3n, 4n],
    ],
  );
  const flat = topics.flatMap(topic => topic ?? []);

  const decoded = abis.decodeLog({ address: OTHER, topics: flat, data });

  expect(decoded?.parameters.slice(3).map(({ value }) => value)).toEqual(['["1","2"]', '["3","4"]']);
});

test('an indexed string shows its hash, because the log contains nothing else', () => {
  const [topic] = encodeEventTopics({ abi: own, eventName: 'Noted' });
  const hash = keccak256(toHex('note'));
  const data = encodeAbiParameters([{ type: 'uint256[]' }], [[1n]]);

  const decoded = abis.decodeLog({ address: ADDRESS, topics: [topic, hash], data });

  expect(decoded).toMatchObject({
    signature: 'Noted(string indexed note, uint256[] amounts)',
    selector: topic.slice(0, 10),
  });
  expect(decoded?.parameters).toEqual([
    { name: 'note', type: 'string', value: hash, indexed: true },
    { name: 'amounts', type: 'uint256[]', value: '["1"]', indexed: false },
  ]);
});

test('an unknown or mismatched call, event or error is null', () => {
  const [topic] = encodeEventTopics({ abi: erc20Abi, eventName: 'Transfer' });

  expect(abis.decodeInput({ to: OTHER, input: '0xdeadbeef' })).toBeNull();
  expect(abis.decodeInput({ to: OTHER, input: '0xa9059cbb00' })).toBeNull();
  expect(abis.decodeInput({ to: OTHER, input: '0x' })).toBeNull();
  expect(abis.decodeLog({ address: OTHER, topics: [topic, pad(OTHER), pad(OTHER)], data: '0x' })).toBeNull();
  expect(abis.decodeLog({ address: OTHER, topics: [], data: '0x' })).toBeNull();
  expect(abis.decodeRevert({ to: OTHER, output: '0x12345678' })).toBeNull();
  expect(abis.methodName('0xdeadbeef')).toBeNull();
});

test('reverts are described in words', () => {
  const standard = parseAbi(['error Error(string reason)', 'error Panic(uint256 code)']);
  const reason = encodeErrorResult({ abi: standard, errorName: 'Error', args: ['not enough'] });
  const panic = encodeErrorResult({ abi: standard, errorName: 'Panic', args: [0x11n] });
  const custom = encodeErrorResult({ abi: own, errorName: 'TooMuch', args: [OTHER, 5n, 'limit'] });

  expect(abis.decodeRevert({ to: null, output: reason })).toBe('not enough');
  expect(abis.decodeRevert({ to: OTHER, output: panic })).toBe(
    'Panic(0x11): arithmetic overflow or underflow',
  );
  expect(abis.decodeRevert({ to: ADDRESS, output: custom })).toBe(`TooMuch(${OTHER}, 5, "limit")`);
});

test('methods are found by name with all their overloads, and named by selector', () => {
  expect(abis.methodName('0xA9059CBB')).toBe('transfer');
  expect(abis.selectorsOf('safeTransferFrom')).toHaveLength(3);
  expect(abis.selectorsOf('nothing')).toEqual([]);
  expect(abis.contractName('0x00000000000000000000000000000000000000AA')).toBe('Shop');
  expect(knownAbis([{ abi: erc721Abi, name: 'Any' }]).contractName(ADDRESS)).toBeNull();
});

test('coins that the chain logs as moved or burnt are decoded, and no burn of another address', () => {
  const data = encodeAbiParameters([{ type: 'uint256' }], [7n]);
  const topicOf = (event: string) => keccak256(toHex(event));
  const transfer = { topics: [topicOf('Transfer(address,address,uint256)'), pad(ADDRESS), pad(OTHER)], data };
  const burn = { topics: [topicOf('Burn(address,uint256)'), pad(ADDRESS)], data };

  expect(abis.decodeLog({ address: SYSTEM_ADDRESS, ...transfer })?.signature).toBe(
    'Transfer(address indexed from, address indexed to, uint256 amount)',
  );
  expect(abis.decodeLog({ address: SYSTEM_ADDRESS, ...burn })).toMatchObject({
    signature: 'Burn(address indexed account, uint256 amount)',
    parameters: [{ value: ADDRESS }, { value: '7' }],
  });
  expect(abis.decodeLog({ address: OTHER, ...burn })).toBeNull();
});
