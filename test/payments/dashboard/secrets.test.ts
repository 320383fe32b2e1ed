import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Db } from '../../../src/db/open.ts';
import { rowsOf } from '../../../src/db/query.ts';
import { tokenOf } from '../../lab/dashboard-session.ts';
import { record, text } from '../../lab/json.ts';
import { eachDatabase } from '../../support/databases.ts';
import { API, type DashboardGround, outcome, SESSION, startDashboardGround } from './dashboard-ground.ts';

const LINKS = `${API}/payment-links`;
const LINK = { name: 'Field notebooks', amount: '7' };

eachDatabase('the one-time address of the embedded default', databases => {
  let ground: DashboardGround;
  let token: string;
  beforeAll(async () => {
    ground = await startDashboardGround(await databases.create('payments'));
    token = tokenOf(text(ground.service.dashboardUrl));
  });
  afterAll(() => ground.close());

  test('leads to the dashboard, with the token in the fragment, which no server sees', () => {
    const address = new URL(text(ground.service.dashboardUrl));

    expect(address.origin).toBe(ground.service.url);
    expect(address.pathname).toBe('/dashboard');
    expect(address.search).toBe('');
    expect(token).toMatch(/^[\w-]{43}$/);
  });

  test('opens one sign-in of the demo within 15 minutes, without its key, and only one', async () => {
    ground.clock.advance(15 * 60_000 - 1);
    const browser = ground.browser();
    const wrong = await ground.browser().signIn({ token: `${token.slice(0, -1)}!` });

    const first = await browser.signIn({ token });
    const second = await ground.browser().signIn({ token });
    const link = await browser.send('POST', LINKS, { body: LINK });

    const demo = record((await ground.api(text(ground.service.demoKey)).get('/api/v1/organization')).body);
    expect([wrong, second].map(outcome)).toEqual(['401 key_invalid', '401 key_invalid']);
    expect(second.headers.getSetCookie()).toEqual([]);
    expect([first.status, link.status]).toEqual([201, 201]);
    expect(first.body).toMatchObject({ organization: { id: demo.id }, permission: 'admin', mode: 'test' });
    expect(JSON.stringify(first.body)).not.toContain(text(ground.service.demoKey));
  });

  test('is invalid 15 minutes after the start', async () => {
    const other = await startDashboardGround(await databases.create('payments'));
    const own = tokenOf(text(other.service.dashboardUrl));
    other.clock.advance(15 * 60_000);

    const answer = await other.browser().signIn({ token: own });
    await other.close();

    expect(outcome(answer)).toBe('401 key_invalid');
  });

  test('opens one sign-in only, even when used several times at once', async () => {
    const other = await startDashboardGround(await databases.create('payments'));
    const own = tokenOf(text(other.service.dashboardUrl));

    const answers = await Promise.all(
      Array.from({ length: 5 }, () => other.browser().signIn({ token: own })),
    );
    await other.close();

    expect(answers.map(outcome).sort()).toEqual(['201', ...Array(4).fill('401 key_invalid')]);
  });

  test('does not exist without a demo, and the token of another demo is refused', async () => {
    const without = await startDashboardGround(await databases.create('payments'), { demo: undefined });

    const answer = await without.browser().signIn({ token });
    const { dashboardUrl } = without.service;
    await without.close();

    expect(dashboardUrl).toBeUndefined();
    expect(outcome(answer)).toBe('401 key_invalid');
  });
});

eachDatabase('cookie and tokens of a sign-in', databases => {
  test('are in no line of the log and in no column of the database', async () => {
    const ground = await startDashboardGround(await databases.create('payments'));
    const secret = ground.key();
    const token = tokenOf(text(ground.service.dashboardUrl));
    const own = ground.member(secret);
    const byToken = ground.browser();
    const member = ground.browser();
    await byToken.signIn({ token });
    await member.signIn(own);
    await member.send('POST', LINKS, { body: LINK, headers: { 'Idempotency-Key': 'kept' } });
    await member.send('POST', LINKS, { body: { ...LINK, amount: 7 }, csrf: byToken.csrf() });
    await member.send('GET', `${LINKS}?token=${token}&key=${secret}`);
    await ground.browser().signIn({ token: `${own.token}x` });
    await member.send('GET', `${LINKS}?token=${own.token}`);
    const secrets = {
      key: secret,
      demoKey: text(ground.service.demoKey),
      token,
      ownToken: own.token,
      cookies: text(member.cookie()).split('=')[1] ?? '',
      otherCookie: text(byToken.cookie()).split('=')[1] ?? '',
      csrf: member.csrf(),
    };

    const columns = await everyColumn(ground.db);
    const sessions = await rowsOf(ground.db, 'select * from member_sessions');
    await member.send('DELETE', SESSION);
    await ground.close();

    expect(sessions).toHaveLength(2);
    expect(columns).toContain('Field notebooks');
    expect(ground.lines.join('')).toContain(SESSION);
    for (const [name, value] of Object.entries(secrets)) {
      expect([name, value.length > 30]).toEqual([name, true]);
      expect([name, ground.lines.filter(line => line.includes(value))]).toEqual([name, []]);
      expect([name, columns.includes(value)]).toEqual([name, false]);
      expect([name, columns.includes(Buffer.from(value, 'base64url').toString('latin1'))]).toEqual([
        name,
        false,
      ]);
    }
  });
});

/** Every value of every table as one text, bytes as Latin-1. */
async function everyColumn(db: Db): Promise<string> {
  const tables = await rowsOf<{ name: string }>(
    db,
    db.dialect.name === 'sqlite'
      ? "select name from sqlite_master where type = 'table'"
      : 'select table_name as name from information_schema.tables where table_schema = current_schema()',
  );
  const values: string[] = [];
  for (const { name } of tables) {
    for (const row of await rowsOf<Record<string, unknown>>(db, `select * from ${name}`)) {
      for (const value of Object.values(row)) {
        values.push(Buffer.isBuffer(value) ? value.toString('latin1') : String(value));
      }
    }
  }
  return values.join('\n');
}
