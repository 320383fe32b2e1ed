import { parseAbi } from 'viem';

/** Functions of the sample contracts that the activity calls. The complete interfaces are in `generated/devnet`. */
export const fungibleAbi = parseAbi([
  'function mint(address to, uint256 amount)',
  'function burn(uint256 amount)',
  'function transfer(address to, uint256 amount) returns (bool)',
  'function approve(address spender, uint256 amount) returns (bool)',
  'function transferFrom(address from, address to, uint256 amount) returns (bool)',
  'function payMany(address[] recipients, uint256 amountEach)',
]);

export const postcardsAbi = parseAbi([
  'function mint(address to) returns (uint256)',
  'function burn(uint256 tokenId)',
  'function approve(address to, uint256 tokenId)',
  'function setApprovalForAll(address operator, bool approved)',
  'function safeTransferFrom(address from, address to, uint256 tokenId)',
]);

export const itemsAbi = parseAbi([
  'function mint(address to, uint256 id, uint256 amount)',
  'function mintBatch(address to, uint256[] ids, uint256[] amounts)',
  'function burn(address account, uint256 id, uint256 amount)',
  'function safeTransferFrom(address from, address to, uint256 id, uint256 amount, bytes data)',
  'function safeBatchTransferFrom(address from, address to, uint256[] ids, uint256[] amounts, bytes data)',
]);

export const splitterAbi = parseAbi([
  'function split(address[] payees) payable',
  'function splitTolerantly(address[] payees) payable',
]);

export const factoryAbi = parseAbi([
  'function createBox(bytes32 salt, uint256 content) returns (address)',
  'function cloneTreasury(address implementation, address owner) returns (address)',
  'function createEphemeral(address heir) payable',
]);

export const faultyAbi = parseAbi([
  'function failWithReason()',
  'function failWithPanic(uint256 divisor) returns (uint256)',
  'function failWithCustomError(uint256 requested)',
  'function burnGas()',
]);

export const treasuryAbi = parseAbi([
  'function initialize(address owner)',
  'function deposit() payable',
  'function withdraw(address to, uint256 amount)',
]);

export const poolFactoryAbi = parseAbi([
  'function createPair(address tokenA, address tokenB) returns (address pair)',
]);

export const poolAbi = parseAbi([
  'function mint()',
  'function sell(address token, uint256 amount, uint256 atLeast, address to) returns (uint256 amountOut)',
]);

export const wrappedCoinAbi = parseAbi(['function deposit() payable', 'function withdraw(uint256 amount)']);

export const marketplaceAbi = parseAbi(['function buy(address token, uint256 id) payable']);

export const nameRegistryAbi = parseAbi([
  'function setSubnodeOwner(bytes32 node, bytes32 label, address owner)',
  'function setResolver(bytes32 node, address resolver)',
]);

export const nameResolverAbi = parseAbi(['function setAddr(bytes32 node, address a)']);
