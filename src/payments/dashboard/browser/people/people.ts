import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { Awaited, answerOf, useAnswer } from '#pages/browser/answer.ts';
import { DialogButton, StatusMessage } from '#pages/browser/changes.ts';
import { h } from '#pages/browser/element.ts';
import { SelectField, TextField } from '#pages/browser/fields.ts';
import { Badge, Card } from '#pages/browser/layout.ts';
import { Ago } from '#pages/browser/moment.ts';
import { Table } from '#pages/browser/table.ts';
import { MEMBER_ROLES, type MemberRole } from '#payments/browser/member-roles.ts';
import { changeHeader, type DashboardRecords, orSignIn, signInApi } from '../api.ts';
import { openPage } from '../frame.ts';
import { useSecrets } from '../secret.ts';
import { useIsOwner, useSignIn } from '../signed-in.ts';

type Member = DashboardRecords['Member'];
type Members = DashboardRecords['MemberList'];
type Invitation = DashboardRecords['Invitation'];

const ROLES: readonly MemberRole[] = ['owner', 'developer', 'support', 'read_only'];
const middleware = [orSignIn];

/** Outcome of a change: a sentence, and the address that only the owner can hand on. */
interface Outcome {
  readonly text: string;
  readonly url?: string | null;
}

/** Page of the members of the organization, which owners change. */
function PeoplePage(): VNode {
  const [said, setSaid] = useState<Outcome>({ text: '' });
  const secrets = useSecrets();
  const onDone = (outcome: Outcome) => {
    setSaid(outcome);
    if (outcome.url != null) secrets.add({ label: 'Hand this sign-in link on.', value: outcome.url });
  };
  const isOwner = useIsOwner();
  const members = useAnswer(signal => signInApi.GET('/dashboard/members', { signal, middleware }), [said]);
  return html`
    <div class="title">
      <h1>People</h1>
      ${isOwner && h(Invite, { onDone })}
    </div>
    ${!isOwner && html`<p class="hint">Owners invite people and change their roles.</p>`}
    ${secrets.view}
    ${h(StatusMessage, { children: said.text })}
    ${h(Awaited<Members>, {
      loading: members,
      children: ({ data }) =>
        h(Card, { children: h(MemberTable, { members: data, mayChange: isOwner, onDone }) }),
    })}
  `;
}

function MemberTable({
  members,
  mayChange,
  onDone,
}: {
  members: readonly Member[];
  mayChange: boolean;
  onDone: (said: Outcome) => void;
}): VNode {
  const own = useSignIn().member.id;
  return h(Table<Member>, {
    label: 'People',
    items: members,
    keyOf: ({ id }) => id,
    columns: [
      {
        name: 'Name',
        cell: ({ id, name }) =>
          html`<span class="clipped">${name}</span>${id === own && html` ${h(Badge, { tone: 'busy', children: 'you' })}`}`,
      },
      { name: 'E-mail', cell: ({ email }) => email ?? '–' },
      { name: 'Role', cell: ({ role }) => MEMBER_ROLES[role].name },
      { name: 'Added', cell: ({ created_at }) => h(Ago, { at: created_at }) },
      ...(mayChange
        ? [
            {
              name: 'Actions',
              cell: (member: Member) => html`<span class="row">
                ${h(ChangeRole, { member, onDone })}
                ${h(SendLink, { member, onDone })}
                ${h(RemoveMember, { member, onDone })}
              </span>`,
            },
          ]
        : []),
    ],
  });
}

function invited({ member, sign_in_url: url }: Invitation): Outcome {
  if (url === null) return { text: `A sign-in link was sent to ${member.email}.` };
  return { text: `No mail server is configured, so you hand the link to ${member.name}.`, url };
}

function RoleField({ value, onValue }: { value: MemberRole; onValue: (role: MemberRole) => void }): VNode {
  return h(SelectField<MemberRole>, {
    label: 'Role',
    param: 'role',
    value,
    hint: MEMBER_ROLES[value].hint,
    options: ROLES.map(role => [role, MEMBER_ROLES[role].name] as const),
    onValue,
  });
}

function Invite({ onDone }: { onDone: (said: Outcome) => void }): VNode {
  const [name, setName] = useState('');
  const [email, setEmail] = useState('');
  const [role, setRole] = useState<MemberRole>('support');
  const invite = async () => {
    const params = { header: changeHeader() };
    const body = { name: name.trim(), email: email.trim(), role };
    const { data } = await answerOf(signInApi.POST('/dashboard/members', { params, body, middleware }));
    setName('');
    setEmail('');
    onDone(invited(data));
  };
  return h(DialogButton, {
    label: 'Invite',
    title: 'Invite a person',
    action: 'Invite',
    tone: 'primary',
    onConfirm: invite,
    children: html`
      ${h(TextField, { label: 'Name', param: 'name', value: name, isRequired: true, maxLength: 100, onValue: setName })}
      ${h(TextField, { label: 'E-mail', param: 'email', type: 'email', value: email, isRequired: true, onValue: setEmail })}
      ${h(RoleField, { value: role, onValue: setRole })}
    `,
  });
}

function ChangeRole({ member, onDone }: { member: Member; onDone: (said: Outcome) => void }): VNode {
  const [role, setRole] = useState(member.role);
  const change = async () => {
    const params = { path: { member_id: member.id }, header: changeHeader() };
    await answerOf(signInApi.PATCH('/dashboard/members/{member_id}', { params, body: { role }, middleware }));
    onDone({ text: `${member.name} is now ${MEMBER_ROLES[role].name}.` });
  };
  return h(DialogButton, {
    label: 'Change role',
    title: `Change the role of ${member.name}`,
    action: 'Save',
    onConfirm: change,
    children: h(RoleField, { value: role, onValue: setRole }),
  });
}

function SendLink({ member, onDone }: { member: Member; onDone: (said: Outcome) => void }): VNode {
  const send = async () => {
    const params = { path: { member_id: member.id }, header: changeHeader() };
    const sent = signInApi.POST('/dashboard/members/{member_id}/sign-in-address', { params, middleware });
    onDone(invited((await answerOf(sent)).data));
  };
  return h(DialogButton, {
    label: 'Send link',
    title: `Send ${member.name} a sign-in link?`,
    action: 'Send',
    onConfirm: send,
    children: html`<p>The link signs ${member.name} in once, within three days.</p>`,
  });
}

function RemoveMember({ member, onDone }: { member: Member; onDone: (said: Outcome) => void }): VNode {
  const remove = async () => {
    const params = { path: { member_id: member.id }, header: changeHeader() };
    await answerOf(signInApi.DELETE('/dashboard/members/{member_id}', { params, middleware }));
    onDone({ text: `${member.name} was removed.` });
  };
  return h(DialogButton, {
    label: 'Remove',
    title: `Remove ${member.name}?`,
    tone: 'danger',
    onConfirm: remove,
    children: html`<p>${member.name} is signed out everywhere and cannot sign in any more.</p>`,
  });
}

openPage('People', PeoplePage);
