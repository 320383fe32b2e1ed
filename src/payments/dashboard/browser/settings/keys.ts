import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { Empty } from '#pages/browser/answer.ts';
import { StatusMessage } from '#pages/browser/changes.ts';
import { h } from '#pages/browser/element.ts';
import { Badge, Card } from '#pages/browser/layout.ts';
import { Ago, Moment } from '#pages/browser/moment.ts';
import { api, type Payments } from '../api.ts';
import { openPage } from '../frame.ts';
import { numberedList, pageQuery } from '../paging.ts';
import { useSecrets } from '../secret.ts';
import { useHasPermission } from '../signed-in.ts';
import { CreateKey, KeyActions } from './key-actions.ts';

type Key = Payments['ApiKey'];

/** Page of the organization's API keys. */
function KeysPage(): VNode {
  const isAdmin = useHasPermission('admin');
  const [made, setMade] = useState<Payments['CreatedApiKey']>();
  const secrets = useSecrets();
  const [said, setSaid] = useState('');
  if (!isAdmin)
    return html`<h1>Keys</h1>
      ${h(Empty, {
        children: 'Only owners and developers can see and create keys.',
      })}`;

  const onMade = (key: Payments['CreatedApiKey']) => {
    setSaid('');
    setMade(key);
    secrets.add({ label: `This is the key “${key.name}”.`, value: key.key });
  };
  return html`
    <div class="title">
      <h1>Keys</h1>
      ${h(CreateKey, { onMade })}
    </div>
    ${secrets.view}
    ${h(StatusMessage, { children: said })}
    ${h(KeyList, { version: `${made?.id} ${said}`, onMade, onSaid: setSaid })}
  `;
}

function KeyList({
  version,
  onMade,
  onSaid,
}: {
  version: string;
  onMade: (key: Payments['CreatedApiKey']) => void;
  onSaid: (said: string) => void;
}): VNode {
  return h(Card, {
    children: numberedList({
      label: 'API keys',
      inputs: [version],
      load: (page, signal) => api.GET('/api/v1/api-keys', { params: { query: pageQuery(page) }, signal }),
      keyOf: ({ id }: Key) => id,
      empty: 'No keys.',
      columns: [
        {
          name: 'Name',
          cell: ({ name }: Key) => html`<span class="clipped">${name}</span>`,
        },
        {
          name: 'Key',
          cell: ({ key_prefix, last_four }: Key) => html`<code>${key_prefix}…${last_four}</code>`,
        },
        {
          name: 'Mode',
          cell: ({ mode }: Key) =>
            h(Badge, {
              tone: mode === 'live' ? 'good' : 'warning',
              children: mode === 'live' ? 'Live' : 'Test',
            }),
        },
        { name: 'Permission', cell: ({ permission }: Key) => permission },
        { name: 'Status', cell: (key: Key) => h(KeyState, { apiKey: key }) },
        {
          name: 'Last used',
          cell: ({ last_used_at: at }: Key) => (at === null ? 'never' : h(Ago, { at })),
        },
        { name: 'Created', cell: ({ created_at }: Key) => h(Ago, { at: created_at }) },
        {
          name: 'Actions',
          cell: (key: Key) => key.is_active && h(KeyActions, { apiKey: key, onMade, onSaid }),
        },
      ],
    }),
  });
}

function KeyState({ apiKey: { is_active, revoked_at, expires_at } }: { apiKey: Key }): VNode {
  if (revoked_at !== null) return h(Badge, { tone: 'bad', children: 'Revoked' });
  if (!is_active) return h(Badge, { tone: 'bad', children: 'Expired' });
  if (expires_at === null) return h(Badge, { tone: 'good', children: 'Active' });
  return html`${h(Badge, { tone: 'warning', children: 'Active' })} until ${h(Moment, { at: expires_at })}`;
}

openPage('Keys', KeysPage);
