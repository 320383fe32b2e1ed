import type { Action, Play, Scene } from './action.ts';
import * as collectible from './collectible.ts';
import * as contracts from './contracts.ts';
import * as failures from './failures.ts';
import * as fungible from './fungible.ts';
import * as market from './market.ts';
import * as native from './native.ts';

/**
 * Creates the activity of one chain: a mix of kinds, with other weights on even and odd chains. An action that is not
 * possible at the moment becomes a native transfer.
 */
export function activityMix(scene: Scene, { isOdd }: { isOdd: boolean }) {
  const kinds: Kind[] = Object.values(KINDS);
  const weighted = kinds.map(({ play, weights: [even, odd] }) => ({ play, weight: isOdd ? odd : even }));
  const hundredths = Math.round(weighted.reduce((sum, { weight }) => sum + weight, 0) * 100);

  function drawn(): Action {
    let rest = scene.random.integer(1, hundredths) / 100;
    const kind = weighted.find(({ weight }) => {
      rest -= weight;
      return rest <= 0;
    });
    return kind?.play(scene) ?? native.transferOfCoins(scene);
  }

  return {
    /** Yields every kind once, in small groups. */
    *showing(groupSize: number): Generator<Action[]> {
      const shown = weighted.filter(({ weight }) => weight > 0);
      for (let at = 0; at < shown.length; at += groupSize) {
        yield shown.slice(at, at + groupSize).map(({ play }) => play(scene) ?? native.transferOfCoins(scene));
      }
    },
    /** Draws actions by the weights of their kinds. */
    more: (count: number): Action[] => Array.from({ length: count }, drawn),
  };
}

/** One kind of activity and its share of the mix on even and on odd chains; 0 means never. */
interface Kind {
  play: Play;
  weights: readonly [even: number, odd: number];
}

/** All kinds of activity. The first blocks show them in this order, so that each finds the state it needs. */
const KINDS = {
  nativeTransfer: kind(native.transferOfCoins, 20, 34),
  nativeToNewAddress: kind(native.nativeToNewAddress, 4, 7),
  noteToAccount: kind(native.noteToAccount, 2, 3),
  stableMint: kind(fungible.stableMint, 2, 2),
  stableTransfer: kind(fungible.stableTransfer, 22, 11),
  stableApprove: kind(fungible.stableApprove, 4, 3),
  stableTransferFrom: kind(fungible.stableTransferFrom, 3, 2),
  stableTransferWithAccessList: kind(fungible.stableTransferWithAccessList, 3, 2),
  stablePayMany: kind(fungible.stablePayMany, 1, 1),
  stableBurn: kind(fungible.stableBurn, 2, 1),
  communityMint: kind(fungible.communityMint, 1, 2),
  communityTransfer: kind(fungible.communityTransfer, 9, 14),
  communityBurn: kind(fungible.communityBurn, 1, 1),
  buyCommunity: kind(market.buyCommunity, 4, 3),
  sellCommunity: kind(market.sellCommunity, 3, 4),
  wrapCoin: kind(market.wrapCoin, 2, 2),
  buyCoin: kind(market.buyCoin, 2, 2),
  sellCoin: kind(market.sellCoin, 2, 2),
  unwrapCoin: kind(market.unwrapCoin, 1, 1),
  postcardMint: kind(collectible.postcardMint, 4, 2),
  postcardTransfer: kind(collectible.postcardTransfer, 4, 2),
  postcardApprove: kind(collectible.postcardApprove, 1, 1),
  postcardBurn: kind(collectible.postcardBurn, 1, 1),
  itemMint: kind(collectible.itemMint, 3, 2),
  itemMintBatch: kind(collectible.itemMintBatch, 1, 1),
  itemTransfer: kind(collectible.itemTransfer, 4, 3),
  itemTransferBatch: kind(collectible.itemTransferBatch, 2, 1),
  itemBurn: kind(collectible.itemBurn, 2, 0),
  deployBox: kind(contracts.deployBox, 2, 1),
  create2Box: kind(contracts.create2Box, 2, 1),
  createEphemeral: kind(contracts.createEphemeral, 1, 1),
  split: kind(contracts.split, 3, 4),
  splitTolerantly: kind(contracts.splitTolerantly, 2, 1),
  unknownCall: kind(contracts.unknownCall, 1, 1),
  proxyDeposit: kind(contracts.proxyDeposit, 2, 2),
  proxyWithdraw: kind(contracts.proxyWithdraw, 1, 1),
  cloneDeposit: kind(contracts.cloneDeposit, 1, 1),
  delegatedSplit: kind(contracts.delegatedSplit, 1, 1),
  // Rare, because each carries 128 KiB.
  blobToAccount: kind(native.blobToAccount, 0.5, 0.3),
  failWithReason: kind(failures.failWithReason, 1, 1),
  failWithPanic: kind(failures.failWithPanic, 1, 1),
  failWithCustomError: kind(failures.failWithCustomError, 1, 1),
  runOutOfGas: kind(failures.runOutOfGas, 1, 1),
  overdraw: kind(failures.overdraw, 1, 1),
  unknownCallRefused: kind(failures.unknownCallRefused, 1, 1),
  withdrawUninvited: kind(failures.withdrawUninvited, 1, 1),
} as const satisfies Record<string, Kind>;

function kind(play: Play, even: number, odd: number): Kind {
  return { play, weights: [even, odd] };
}
