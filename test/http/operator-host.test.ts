import { describe, expect, onTestFinished, test } from 'vitest';
import { createMetrics } from '../../src/http/metrics.ts';
import { openAdminListener } from '../../src/http/server/admin-listener.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { createLogger } from '../../src/lib/logger.ts';
import { rawRequest } from '../support/raw-request.ts';

/** The operator's listener, and a function that requests a path of it with these header lines. */
async function operator(hosts: readonly string[] = []) {
  const listener = await openAdminListener(
    { listen: { host: '127.0.0.1', port: 0 }, hosts },
    {
      view: { checks: {}, status: { data: async () => ({ chains: [] }) } },
      metrics: createMetrics(),
      clock: systemClock,
      log: createLogger({ level: 'silent' }),
    },
  );
  onTestFinished(() => listener.close(0));
  return (path: string, lines: string, version = '1.1') =>
    rawRequest(listener.url, `GET ${path} HTTP/${version}\r\n${lines}Connection: close\r\n\r\n`);
}

describe('metrics and status are answered', () => {
  test.each([
    '127.0.0.1:3002',
    '10.0.0.7',
    '[::1]:3002',
    '[fd00::7]',
    'localhost',
    'LocalHost:3002',
    'localhost.:3002',
    'tollgate-data:3002',
    'metrics.localhost',
    'tollgate.monitoring.svc.cluster.local:3002',
    'data.tollgate.internal',
    'nas.home.arpa',
  ])('to the host %s', async host => {
    const get = await operator();

    const [metrics, status] = [
      await get('/metrics', `Host: ${host}\r\n`),
      await get('/status', `Host: ${host}\r\n`),
    ];

    expect([metrics.status, status.status]).toEqual([200, 200]);
    expect(metrics.body).toContain('tollgate_http_requests_total');
  });

  test('to the configured names, and to those below a configured one', async () => {
    const get = await operator(['metrics.example.com', '*.prod.example.net']);
    const statusFor = async (host: string) => (await get('/status', `Host: ${host}\r\n`)).status;

    expect(await statusFor('METRICS.example.com:3002')).toBe(200);
    expect(await statusFor('web-17.prod.example.net')).toBe(200);
    expect(await statusFor('prod.example.net')).toBe(421);
    expect(await statusFor('evilprod.example.net')).toBe(421);
    expect(await statusFor('example.com')).toBe(421);
  });

  test('to a client of HTTP/1.0, which need not name a host', async () => {
    const get = await operator();

    expect((await get('/metrics', '', '1.0')).status).toBe(200);
  });
});

describe('a page that points its own name here', () => {
  test.each([
    'evil.example:3002',
    'evil.example.',
    '127.0.0.1.evil.example',
    'localhost.evil.example',
    'evil-internal.com',
    '[127.0.0.1]',
    '[evil.example]',
    ':3002',
    'a:b',
  ])('as %s reads neither metrics nor status', async host => {
    const get = await operator();

    const [metrics, status] = [
      await get('/metrics', `Host: ${host}\r\n`),
      await get('/status', `Host: ${host}\r\n`),
    ];

    const message = 'The Host header has a name that admin.hosts does not list';
    expect([metrics.status, JSON.parse(metrics.body)]).toEqual([421, { message }]);
    expect([status.status, JSON.parse(status.body)]).toEqual([421, { message }]);
  });

  test('in a target in absolute form reads nothing either', async () => {
    const get = await operator();

    expect((await get('http://evil.example/status', 'Host: localhost\r\n')).status).toBe(421);
  });

  test('can see that the process is alive and ready, as load balancers with names of their own do', async () => {
    const get = await operator();

    const [alive, ready] = [
      await get('/healthz', 'Host: evil.example\r\n'),
      await get('/readyz', 'Host: evil.example\r\n'),
    ];

    expect([alive.status, ready.status]).toEqual([200, 200]);
  });
});
