import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { Awaited, answerOf, Empty, useAnswer } from '#pages/browser/answer.ts';
import { DialogButton } from '#pages/browser/changes.ts';
import { h } from '#pages/browser/element.ts';
import { TextField } from '#pages/browser/fields.ts';
import { Card } from '#pages/browser/layout.ts';
import { Ago } from '#pages/browser/moment.ts';
import { Table } from '#pages/browser/table.ts';
import { changeHeader, type DashboardRecords, orSignIn, signInApi } from '../api.ts';
import { hasPasskeys, makePasskey } from '../session/passkey.ts';

type Passkey = DashboardRecords['Passkey'];
type PasskeyList = DashboardRecords['PasskeyList'];

const middleware = [orSignIn];

/** Passkeys of the member, with a button that adds one where the browser has passkeys. */
export function Passkeys({ onSaid }: { onSaid: (said: string) => void }): VNode {
  const [version, setVersion] = useState(0);
  const passkeys = useAnswer(
    signal => signInApi.GET('/dashboard/passkeys', { signal, middleware }),
    [version],
  );
  const onDone = (said: string) => {
    setVersion(version + 1);
    onSaid(said);
  };
  return h(Card, {
    title: 'Passkeys',
    aside: hasPasskeys() && h(AddPasskey, { onDone }),
    children: html`
      <p class="hint">
        A passkey signs you in with your fingerprint, face or PIN. With one, changes of people and of the addresses that
        receive money ask for it again.
        ${!hasPasskeys() && html` This browser has passkeys only over https.`}
      </p>
      ${h(Awaited<PasskeyList>, {
        loading: passkeys,
        children: ({ data }) =>
          data.length === 0
            ? h(Empty, { children: 'No passkeys yet.' })
            : h(PasskeyTable, { passkeys: data, onDone }),
      })}
    `,
  });
}

function PasskeyTable({
  passkeys,
  onDone,
}: {
  passkeys: readonly Passkey[];
  onDone: (said: string) => void;
}): VNode {
  return h(Table<Passkey>, {
    label: 'Passkeys',
    items: passkeys,
    keyOf: ({ id }) => id,
    columns: [
      { name: 'Name', cell: ({ name }) => html`<span class="clipped">${name}</span>` },
      { name: 'Added', cell: ({ created_at }) => h(Ago, { at: created_at }) },
      { name: 'Last used', cell: ({ last_used_at: at }) => (at === null ? 'never' : h(Ago, { at })) },
      { name: 'Actions', cell: passkey => h(RemovePasskey, { passkey, onDone }) },
    ],
  });
}

function AddPasskey({ onDone }: { onDone: (said: string) => void }): VNode {
  const [name, setName] = useState('');
  const add = async () => {
    const params = { header: changeHeader() };
    const asked = signInApi.POST('/dashboard/passkeys/registration', { params, middleware });
    const passkey = await makePasskey((await answerOf(asked)).data.options);
    const body = { name: name.trim(), passkey };
    await answerOf(signInApi.POST('/dashboard/passkeys', { params, body, middleware }));
    setName('');
    onDone('The passkey is added. You can sign in with it from now on.');
  };
  return h(DialogButton, {
    label: 'Add passkey',
    title: 'Add a passkey',
    action: 'Continue',
    tone: 'primary',
    onConfirm: add,
    children: h(TextField, {
      label: 'Name',
      param: 'name',
      value: name,
      isRequired: true,
      maxLength: 100,
      hint: 'Where the passkey is kept, for example your laptop.',
      onValue: setName,
    }),
  });
}

function RemovePasskey({ passkey, onDone }: { passkey: Passkey; onDone: (said: string) => void }): VNode {
  const remove = async () => {
    const params = { path: { passkey_id: passkey.id }, header: changeHeader() };
    await answerOf(signInApi.DELETE('/dashboard/passkeys/{passkey_id}', { params, middleware }));
    onDone(`The passkey “${passkey.name}” is removed.`);
  };
  return h(DialogButton, {
    label: 'Remove',
    title: `Remove the passkey “${passkey.name}”?`,
    tone: 'danger',
    onConfirm: remove,
    children: html`<p>It signs you in no more. Sessions that are open stay open.</p>`,
  });
}
