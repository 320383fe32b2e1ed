import { beforeEach, expect, test } from 'vitest';
import { formEditor } from '#pages/browser/form-editor.ts';

interface Webhook {
  url: string;
  description: string | null;
  events: readonly string[];
}

let stored: Webhook;
let sent: Partial<Webhook>[];

beforeEach(() => {
  stored = { url: 'https://one.example', description: null, events: ['*'] };
  sent = [];
});

/** Form of a person who opened the page now. */
function opened() {
  return formEditor<Webhook>({
    opened: stored,
    read: async () => stored,
    write: async changes => {
      sent.push(changes);
      stored = { ...stored, ...changes };
    },
  });
}

test('a form sends what was changed only', async () => {
  const form = opened();

  expect(await form.save({ ...stored, description: 'orders' })).toBe(true);
  expect(sent).toEqual([{ description: 'orders' }]);
});

test('a form that was not changed sends nothing', async () => {
  const form = opened();

  expect(await form.save({ ...stored, events: ['*'] })).toBe(false);
  expect(sent).toEqual([]);
});

test('two people who change different fields keep both changes', async () => {
  const [ann, bob] = [opened(), opened()];
  const before = stored;

  await ann.save({ ...before, url: 'https://two.example' });
  await bob.save({ ...before, description: 'orders' });

  expect(stored).toEqual({ url: 'https://two.example', description: 'orders', events: ['*'] });
});

test('the second of two people who change one field learns of the first change, and can replace it', async () => {
  const [ann, bob] = [opened(), opened()];
  const typed = { ...stored, url: 'https://bob.example' };
  await ann.save({ ...stored, url: 'https://ann.example' });

  await expect(bob.save(typed)).rejects.toMatchObject({
    message: 'This was changed meanwhile, to “https://ann.example”. Save again to replace it.',
    param: 'url',
  });
  expect(stored.url).toBe('https://ann.example');

  expect(await bob.save(typed)).toBe(true);
  expect(stored.url).toBe('https://bob.example');
});
