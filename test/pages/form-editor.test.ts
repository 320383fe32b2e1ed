import { beforeEach, expect, test } from 'vitest';
import { formEditor } from '#pages/browser/form-editor.ts';
import { Problem } from '#pages/browser/problem.ts';

interface Webhook {
  url: string;
  description: string | null;
  events: readonly string[];
}

let stored: Webhook;
/** Number of changes of the record, by others and in its counters too. */
let version: number;
let sent: Partial<Webhook>[];
/** What happens between the reading of the record and its change. */
let inBetween: () => void;

beforeEach(() => {
  stored = { url: 'https://one.example', description: null, events: ['*'] };
  version = 1;
  sent = [];
  inBetween = () => undefined;
});

/** Form of a person who opened the page now. */
function opened() {
  return formEditor<Webhook>({
    opened: stored,
    read: async () => ({ values: stored, etag: String(version) }),
    write: async (changes, etag) => {
      inBetween();
      if (etag !== String(version)) throw new Problem('changed', { status: 412 });
      sent.push(changes);
      stored = { ...stored, ...changes };
      version += 1;
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

test('a change that comes between reading and writing is not undone', async () => {
  const form = opened();
  const typed = { ...stored, url: 'https://bob.example' };
  inBetween = () => {
    stored = { ...stored, url: 'https://ann.example' };
    version += 1;
    inBetween = () => undefined;
  };

  await expect(form.save(typed)).rejects.toMatchObject({ param: 'url' });
  expect(stored.url).toBe('https://ann.example');
});

test('a change of other fields or counters between reading and writing does not disturb', async () => {
  const form = opened();
  inBetween = () => {
    version += 1;
    inBetween = () => undefined;
  };

  expect(await form.save({ ...stored, url: 'https://bob.example' })).toBe(true);
  expect(sent).toEqual([{ url: 'https://bob.example' }]);
});

test('a record that changes all the time ends in a problem and not in an endless loop', async () => {
  const form = opened();
  inBetween = () => {
    version += 1;
  };

  await expect(form.save({ ...stored, url: 'https://bob.example' })).rejects.toMatchObject({ status: 412 });
});
