import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { Awaited, answerOf, useAnswer } from '#pages/browser/answer.ts';
import { DialogButton } from '#pages/browser/changes.ts';
import { h } from '#pages/browser/element.ts';
import { Badge, Card } from '#pages/browser/layout.ts';
import { Ago, Moment } from '#pages/browser/moment.ts';
import { Table } from '#pages/browser/table.ts';
import { modeName } from '../account-menu.ts';
import { changeHeader, type DashboardRecords, orSignIn, signInApi } from '../api.ts';

type Session = DashboardRecords['OpenDashboardSession'];
type Sessions = DashboardRecords['DashboardSessionList'];

/** Open sessions: the member's own, and for an owner those of all members. */
export function OpenSessions({ onSaid }: { onSaid: (said: string) => void }): VNode {
  const [version, setVersion] = useState(0);
  const sessions = useAnswer(
    signal => signInApi.GET('/dashboard/sessions', { signal, middleware: [orSignIn] }),
    [version],
  );
  const onEnded = (said: string) => {
    setVersion(version + 1);
    onSaid(said);
  };
  return h(Card, {
    title: 'Open sessions',
    children: html`
      <p class="hint">Browsers that are signed in to this dashboard. Sign out those that you do not recognise.</p>
      ${h(Awaited<Sessions>, {
        loading: sessions,
        children: ({ data }) => h(SessionTable, { data, onSaid: onEnded }),
      })}
    `,
  });
}

function SessionTable({ data, onSaid }: { data: readonly Session[]; onSaid: (said: string) => void }): VNode {
  return h(Table<Session>, {
    label: 'Open sessions',
    items: data,
    keyOf: ({ id }) => id,
    columns: [
      {
        name: 'Member',
        cell: ({ member, is_current }) =>
          html`<span class="clipped">${member.name}</span>${is_current && html` ${h(Badge, { tone: 'busy', children: 'this session' })}`}`,
      },
      { name: 'Browser', cell: ({ user_agent: agent }) => browserName(agent) },
      { name: 'IP address', cell: ({ address }) => address },
      { name: 'Mode', cell: ({ mode }) => modeName(mode) },
      { name: 'Signed in', cell: ({ created_at }) => h(Ago, { at: created_at }) },
      { name: 'Until', cell: ({ expires_at }) => h(Moment, { at: expires_at }) },
      {
        name: 'Actions',
        cell: session => !session.is_current && h(EndButton, { session, onSaid }),
      },
    ],
  });
}

function EndButton({ session, onSaid }: { session: Session; onSaid: (said: string) => void }): VNode {
  const end = async () => {
    const params = { path: { session_id: session.id }, header: changeHeader() };
    await answerOf(signInApi.DELETE('/dashboard/sessions/{session_id}', { params, middleware: [orSignIn] }));
    onSaid(`The session of ${session.member.name} in ${browserName(session.user_agent)} has ended.`);
  };
  return h(DialogButton, {
    label: 'Sign out',
    title: 'Sign this browser out?',
    tone: 'danger',
    onConfirm: end,
    children: html`<p>${session.member.name}, ${browserName(session.user_agent)}, ${session.address}.</p>`,
  });
}

const BROWSERS = [
  ['Edg/', 'Edge'],
  ['OPR/', 'Opera'],
  ['Firefox/', 'Firefox'],
  ['Chrome/', 'Chrome'],
  ['Safari/', 'Safari'],
] as const;
const SYSTEMS = [
  ['Android', 'Android'],
  ['iPhone', 'iPhone'],
  ['iPad', 'iPad'],
  ['Mac OS X', 'macOS'],
  ['Windows', 'Windows'],
  ['Linux', 'Linux'],
] as const;

/** Browser and system of a `User-Agent`, for people. Browsers name those before them, so the order matters. */
function browserName(agent: string | null): string {
  const named = (names: readonly (readonly [string, string])[]) =>
    names.find(([mark]) => agent?.includes(mark))?.[1];
  return [named(BROWSERS) ?? 'Unknown browser', named(SYSTEMS)].filter(Boolean).join(' on ');
}
