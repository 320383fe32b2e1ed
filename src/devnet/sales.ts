import { encodeFunctionData, erc721Abi, parseEther } from 'viem';
import { marketplaceAbi, postcardsAbi } from './activity/abis.ts';
import { type Action, addressOf, type Scene } from './activity/action.ts';

const SELLER = 4;
const BUYER = 5;

/** What the marketplace asks for a token: `priceOf` in Marketplace.sol. */
const priceOf = (id: bigint): bigint => (1n + (id % 9n)) * parseEther('0.01');

/** Mints a postcard that is then sold on the marketplace, so that every chain has a sale. For one block, in this order. */
export function planSale(scene: Scene): Action[] {
  const { contracts, counts, deployer } = scene;
  const { marketplace, postcards: token } = contracts;
  counts.postcards += 1n;
  // It stays out of the ledger, so that nobody moves or burns it later.
  const id = counts.postcards;
  const seller = addressOf(scene, SELLER);
  const mint = encodeFunctionData({ abi: postcardsAbi, functionName: 'mint', args: [seller] });
  const approve = encodeFunctionData({ abi: erc721Abi, functionName: 'approve', args: [marketplace, id] });
  const buy = encodeFunctionData({ abi: marketplaceAbi, functionName: 'buy', args: [token, id] });
  return [
    { from: deployer, to: token, data: mint, gas: 150_000n },
    { from: SELLER, to: token, data: approve, gas: 80_000n },
    { from: BUYER, to: marketplace, data: buy, value: priceOf(id), gas: 250_000n },
  ];
}
