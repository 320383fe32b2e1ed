import { erc721Abi, parseEventLogs } from 'viem';
import { expect } from 'vitest';
import { list, record, text } from '../../lab/json.ts';
import { test } from '../../support/served-devnet.ts';

test('every transfer of a postcard is listed, as many as the node has logs of', async ({ api, view }) => {
  const { contract, transactions } = view;
  const address = contract('Postcards').toLowerCase();
  const logs = transactions.flatMap(transaction => transaction.logs).filter(log => log.address === address);
  const moved = parseEventLogs({ abi: erc721Abi, eventName: 'Transfer', logs });

  const { status, body } = await api.get(`/insights/v1/nfts/transfers/${address}?limit=1000`);

  const told = list(record(body).data).map(record);
  expect(status).toBe(200);
  expect(told.map(one => [one.transaction_hash, one.log_index, one.token_id, one.to_address])).toEqual(
    moved
      .toReversed()
      .map(({ transactionHash, logIndex, args }) => [
        transactionHash,
        logIndex,
        args.tokenId.toString(),
        args.to.toLowerCase(),
      ]),
  );
  expect(told.filter(one => one.transfer_type === 'sale')).toHaveLength(1);
});

test('the sale on the embedded chain is listed with its price', async ({ api, view }) => {
  const { contract } = view;

  const { body } = await api.get(
    `/insights/v1/nfts/transfers/${contract('Postcards')}/1?sales=true&metadata=true&include_owners=true`,
  );

  const sale = list(record(body).data)
    .map(record)
    .find(one => one.transfer_type === 'sale');
  expect(sale?.nft_sale).toMatchObject({
    marketplace_address: contract('Marketplace').toLowerCase(),
    payment: [{ amount: '19500000000000000' }, { amount: '500000000000000' }],
  });
  expect(sale?.nft_metadata).toMatchObject({ name: 'Postcard #1', status: 'ok' });
  expect(record(sale?.nft_metadata).owner_addresses).toEqual([sale?.to_address]);
});

test('a proxy’s ABI has the functions of its implementation', async ({ api, view }) => {
  const { contract } = view;

  const { status, body } = await api.get(`/insights/v1/contracts/abi/${contract('Treasury Proxy')}`);

  expect(status).toBe(200);
  const names = list(body).map(item => record(item).name);
  expect(names).toContain('withdraw');
});

test('a missing record is a 404 with a message', async ({ api }) => {
  const nobody = `0x${'77'.repeat(20)}`;
  const answers = await Promise.all(
    [`/nfts/transfers/${nobody}`, `/nfts/transfers/${nobody}/1`, `/contracts/abi/${nobody}`].map(path =>
      api.get(`/insights/v1${path}`),
    ),
  );

  expect(answers.map(({ status }) => status)).toEqual([404, 404, 404]);
  for (const { body } of answers) expect(text(record(body).error)).toContain(nobody);
});
