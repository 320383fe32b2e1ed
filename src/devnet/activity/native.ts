import { parseGwei, stringToHex } from 'viem';
import { BLOB_SENDER } from '../chain/accounts.ts';
import { type Action, accountAddress, type Play, type Scene, someone, someoneElse } from './action.ts';

const MILLIETHER = 10n ** 15n;

/** Transfer of native coin between two funded accounts, which is always possible. */
export function transferOfCoins(scene: Scene): Action {
  const from = someone(scene);
  return { from, to: accountAddress(scene, someoneElse(scene, from)), value: amount(scene), gas: 21_000n };
}

/** Transfer of native coin to an address without a history. */
export const nativeToNewAddress: Play = scene => ({
  from: someone(scene),
  to: scene.random.hex(20),
  value: amount(scene),
  gas: 21_000n,
});

const NOTES = ['thanks for lunch', 'invoice 2041', 'rent, may', 'see you at the meetup', '{"order":"A-77"}'];

/** Transaction with input to an account without code: nothing runs, but the bytes are recorded. */
export const noteToAccount: Play = scene => ({
  ...transferOfCoins(scene),
  data: stringToHex(scene.random.pick(NOTES)),
  gas: 30_000n,
});

/** One blob (type 3), from the account that posts only blobs. */
export const blobToAccount: Play = scene => ({
  from: BLOB_SENDER,
  to: accountAddress(scene, someone(scene)),
  gas: 21_000n,
  envelope: { kind: 'blob' },
});

function amount({ random }: Scene): bigint {
  // Sometimes dust, so that values spread over many magnitudes.
  return random.chance(0.1)
    ? parseGwei(String(random.integer(1, 900)))
    : BigInt(random.integer(1, 2_500)) * MILLIETHER;
}
