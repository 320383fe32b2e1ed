import { type Address, numberToHex } from 'viem';
import { expect, test } from 'vitest';
import { deriveAccounts } from '../../src/devnet/chain/accounts.ts';
import { authoritiesOf } from '../../src/evm/authorities.ts';

const CHAIN_ID = 31_337;
const DELEGATE: Address = '0x00000000000000000000000000000000000000aa';

test('authorizations for other chains, and invalid ones, name no account', async () => {
  const account = deriveAccounts().authority(0);
  const signedFor = async (chainId: number) => {
    const { address, nonce, r, s, yParity } = await account.signAuthorization({
      address: DELEGATE,
      chainId,
      nonce: 0,
    });
    return {
      ...{ address, r, s, chainId: numberToHex(chainId) },
      ...{ nonce: numberToHex(nonce), yParity: numberToHex(yParity ?? 0) },
    };
  };
  const [ours, any, theirs] = await Promise.all([CHAIN_ID, 0, 1].map(signedFor));
  const broken = { ...ours, r: `0x${'ff'.repeat(32)}` };

  const found = await authoritiesOf([ours, any, theirs, broken, null, { address: 'x' }], CHAIN_ID);

  expect(found).toEqual([account.address.toLowerCase(), account.address.toLowerCase()]);
});
