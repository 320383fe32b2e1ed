import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect } from 'vitest';
import { dataServiceContract } from '../../src/contract/contracts/data-service.ts';
import { list, operationsOf } from '../../src/contract/contracts/document.ts';
import { explorerContract } from '../../src/contract/contracts/explorer.ts';
import { insightsContract } from '../../src/contract/contracts/insights.ts';
import { paymentsContract } from '../../src/contract/contracts/payments.ts';
import { mergedDocument } from '../../src/contract/description/merged-document.ts';
import { mintlifyVariant } from '../../src/contract/description/mintlify.ts';
import { isObject } from '../../src/lib/json.ts';
import { test } from '../support/served-devnet.ts';

const run = promisify(execFile);
const DATA = mergedDocument('Data', [explorerContract, insightsContract, dataServiceContract]);

/** Samples of one language, by operationId. */
function samplesOf(document: Parameters<typeof mintlifyVariant>[0], language: string, url: string) {
  return operationsOf(mintlifyVariant(document, url)).map(({ operation }) => {
    const sample = list(operation, 'x-codeSamples').find(one => isObject(one) && one.lang === language);
    return {
      id: String(operation.operationId),
      source: isObject(sample) ? String(sample.source) : '',
    };
  });
}

describe('samples run without changes', () => {
  test('with curl', async ({ serviceOfBoth }) => {
    const answers: string[] = [];
    for (const { id, source } of samplesOf(DATA, 'bash', serviceOfBoth.url)) {
      const measured = source.replace('curl ', "curl -s -o /dev/null -w '%{http_code}' ");
      // The time limit of a stream's sample ends curl with a status of its own.
      const { stdout } = await run('sh', [
        '-c',
        `${measured}${source.includes('--max-time') ? ' || true' : ''}`,
      ]);
      answers.push(`${id} ${stdout}`);
    }

    expect(answers.filter(answer => !answer.endsWith(' 200'))).toEqual([]);
    expect(answers).toHaveLength(operationsOf(DATA).length);
  });

  test('with plain Python', async ({ serviceOfBoth }) => {
    const samples = samplesOf(DATA, 'python', serviceOfBoth.url);

    const program = samples.map(({ id, source }) => `${source}\nprint("ran ${id}")`).join('\n');
    const { stdout } = await run('python3', ['-c', program], { maxBuffer: 64 * 1024 * 1024 });

    expect(stdout.match(/^ran .+$/gm)).toEqual(samples.map(({ id }) => `ran ${id}`));
  });
});

describe('samples of the payments platform', () => {
  const sampleOf = (language: string, wanted: string) =>
    samplesOf(paymentsContract.document, language, 'https://pay.example').find(({ id }) => id === wanted)
      ?.source;

  test('send the key, and a body with its content type', () => {
    expect(sampleOf('bash', 'retryWebhookDelivery')).toMatch(
      /^curl -X POST 'https:\/\/pay\.example\/api\/v1\/[^']+' \\\n {2}-H 'Authorization: Bearer YOUR_KEY'$/,
    );
    expect(sampleOf('bash', 'createApiKey')).toContain(
      `-H 'Content-Type: application/json' \\\n  -d '{"name":"Shop back end","permission":"write"}'`,
    );
    expect(sampleOf('python', 'createApiKey')).toContain(
      'data=json.dumps({"name": "Shop back end", "permission": "write"}).encode()',
    );
    expect(sampleOf('typescript', 'createApiKey')).toContain(
      `client.POST('/api/v1/api-keys', {\n  body: { name: 'Shop back end', permission: 'write' },\n}`,
    );
    expect(sampleOf('typescript', 'startCheckout')).not.toContain('YOUR_KEY');
  });

  test('read CSV as text', () => {
    expect(sampleOf('typescript', 'exportPaymentTransactions')).toContain(`parseAs: 'text'`);
    expect(sampleOf('python', 'exportPaymentTransactions')).toContain('response.read().decode()');
    expect(sampleOf('python', 'exportPaymentTransactions')).not.toContain('json');
  });
});
