import { render } from 'preact-render-to-string';
import { expect, test, vi } from 'vitest';
import type { Nft } from '#data/pages/browser/token/picture.ts';
import { h } from '#pages/browser/element.ts';

// The module of the pages' API client reads it.
vi.stubGlobal('location', new URL('http://127.0.0.1/'));
const { Gallery } = await import('#data/pages/browser/token/gallery.ts');

const NFT = { id: '7', metadata: {}, owner: null, token: null } satisfies Nft;

function galleryOf(contract: string | undefined): string {
  return render(
    h(Gallery<Nft>, {
      label: 'NFTs',
      chainId: 1,
      items: [NFT],
      contractOf: () => contract,
      about: () => 'of nobody',
    }),
  );
}

test('an NFT of a collection is a link with a picture from this server', () => {
  const html = galleryOf('0x00000000000000000000000000000000000000aa');

  expect(html).toContain('<img');
  expect(html).toContain('<a href=');
});

test('an NFT of an unknown collection has neither a link nor a picture', () => {
  const html = galleryOf(undefined);

  expect(html).not.toMatch(/<img|<a href|undefined/);
  expect(html).toContain('#7');
});
