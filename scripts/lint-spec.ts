/**
 * Lints every contract, spec/<contract>/openapi.yaml, with Redocly's strict recommended rules (including examples),
 * then with our own rules in spec/README.md. Also lints the patterns of the configuration's schema. Prints the findings
 * and exits with 1 when there are any.
 */

import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseDocument, visit } from 'yaml';
import {
  child,
  type Json,
  type JsonObject,
  list,
  operationsOf,
  resolve,
} from '../src/contract/contracts/document.ts';
import { isObject } from '../src/lib/json.ts';

const SPEC = process.argv[2] ?? 'spec';
const REDOCLY = join('node_modules', '@redocly', 'cli', 'bin', 'cli.js');
/** Keys whose values are data, not schemas, parameters or responses. */
const DATA = new Set(['example', 'examples', 'enum', 'const', 'default']);

/** Schema names that hide a global of browsers and Node in generated clients. */
const GLOBALS = new Set(['Error', 'Event', 'FormData']);

/** Ids and summaries that are in use, across all contracts. */
const taken = { ids: new Set<Json>(), summaries: new Set<string>() };

const decisions = decisionsIn(SPEC);
const contracts = readdirSync(SPEC).filter(name => existsSync(join(SPEC, name, 'openapi.yaml')));
const findings = [
  ...decisions.findings,
  ...contracts.flatMap(name => lintContract(join(SPEC, name))),
  ...lintConfig(join(SPEC, 'config', 'schema.yaml')),
];
if (contracts.length === 0) findings.push(`${SPEC} holds no contract`);
for (const finding of findings) console.error(finding);
console.log(
  `${contracts.length} contracts, ${decisions.numbers.size} decisions, ${findings.length} findings`,
);
if (findings.length > 0) process.exitCode = 1;

function lintContract(folder: string): string[] {
  const files = readdirSync(folder).filter(name => name.endsWith('.yaml'));
  const own = files.flatMap(name => {
    const file = join(folder, name);
    const { root, findings } = read(file);
    const operations = name === 'openapi.yaml' ? lintOperations(root) : [];
    return [...findings, ...operations, ...lintNode(root, '#'), ...lintPatterns(root, '#')].map(
      finding => `${file} ${finding}`,
    );
  });
  return [...lintWithRedocly(join(folder, 'openapi.yaml')), ...own, ...lintNames(folder)];
}

/** Finds component names that client generators cannot distinguish (spec/README.md, rule 16). */
function lintNames(folder: string): string[] {
  const { root } = read(join(folder, 'openapi.yaml'));
  const parameters = child(child(root, 'components'), 'parameters');
  const operations = operationsOf(root).map(({ operation }) => String(operation.operationId).toLowerCase());
  return Object.keys(read(join(folder, 'schemas.yaml')).root).flatMap(name => {
    const at = `${folder}: the schema ${name}`;
    const [, stem = ''] = /^(.+)(?:Data|Error|Errors|Response|Responses|Result)$/.exec(name) ?? [];
    return [
      ...(GLOBALS.has(name) ? [`${at} hides a global of that name`] : []),
      ...(Object.hasOwn(parameters, name) ? [`${at} is also the name of a parameter`] : []),
      ...(operations.includes(stem.toLowerCase()) ? [`${at} has the name of an operation's type`] : []),
    ];
  });
}

/** Lints the configuration. It has no operations, so only its patterns are checked. */
function lintConfig(file: string): string[] {
  const { root, findings } = read(file);
  return [...findings, ...lintPatterns(root, '#')].map(finding => `${file} ${finding}`);
}

/** Finds patterns without `x-form`, the text that errors show instead (Decision 182). */
function lintPatterns(node: Json, at: string): string[] {
  if (Array.isArray(node)) return node.flatMap((item, index) => lintPatterns(item, `${at}/${index}`));
  if (!isObject(node)) return [];
  const within = Object.entries(node).flatMap(([key, value]) =>
    DATA.has(key) ? [] : lintPatterns(value, `${at}/${key}`),
  );
  if (typeof node.pattern !== 'string' || isText(node['x-form'])) return within;
  return [`${at}: pattern without x-form`, ...within];
}

/** Reads a YAML file. Anchors are findings: objects shared by two schemas confuse tools that dereference them. */
function read(file: string): { root: JsonObject; findings: string[] } {
  const document = parseDocument(readFileSync(file, 'utf8'), { uniqueKeys: true });
  const findings = [...document.errors, ...document.warnings].map(({ message }) => message);
  visit(document, {
    Alias: (_, { source }) => void findings.push(`*${source}: no YAML aliases`),
    Node: (_, node) => {
      if ('anchor' in node && node.anchor !== undefined) findings.push(`&${node.anchor}: no YAML anchors`);
    },
  });
  const root: Json = document.toJS();
  return { root: isObject(root) ? root : {}, findings };
}

function lintOperations(root: JsonObject): string[] {
  const { ids, summaries } = taken;
  const documented = list(root, 'x-documented-statuses');
  const findings =
    documented.length === 0 ? ['# x-documented-statuses must list the statuses of the document'] : [];
  for (const { path, method, operation } of operationsOf(root)) {
    const at = `${method.toUpperCase()} ${path}`;
    const { operationId, summary } = operation;
    if (typeof operationId !== 'string') findings.push(`${at}: no operationId`);
    else if (ids.has(operationId)) findings.push(`${at}: operationId ${operationId} is taken`);
    else ids.add(operationId);
    if (typeof summary !== 'string') findings.push(`${at}: no summary`);
    if (typeof operation.description !== 'string') findings.push(`${at}: no description`);
    const tags = list(operation, 'tags');
    if (tags.length === 0) findings.push(`${at}: no tag`);
    for (const tag of tags) {
      const key = JSON.stringify([tag, summary]);
      if (summaries.has(key)) findings.push(`${at}: summary "${summary}" is taken in tag ${tag}`);
      summaries.add(key);
    }
    for (const [status, response] of Object.entries(child(operation, 'responses'))) {
      if (documented.includes(status) || isElsewhere(response)) continue;
      if (resolve(root, response)['x-decision'] !== undefined) continue;
      findings.push(`${at}: status ${status} is not in the document and cites no decision (x-decision)`);
    }
  }
  return findings;
}

/** True for a response of another contract, which is checked there. */
function isElsewhere(response: Json): boolean {
  return isObject(response) && typeof response.$ref === 'string' && !response.$ref.startsWith('#');
}

/** Checks general rules: allOf is forbidden, cited decisions exist, properties have descriptions. */
function lintNode(node: Json, at: string): string[] {
  if (Array.isArray(node)) return node.flatMap((item, index) => lintNode(item, `${at}/${index}`));
  if (!isObject(node)) return [];
  const findings: string[] = [];
  if (node.allOf !== undefined) findings.push(`${at}: no allOf, write the object out`);
  const decision = node['x-decision'];
  if (decision !== undefined && !(typeof decision === 'number' && decisions.numbers.has(decision))) {
    findings.push(`${at}: x-decision ${JSON.stringify(decision)} is in no decisions.md`);
  }
  for (const [key, value] of Object.entries(node)) {
    if (DATA.has(key) || key.startsWith('x-')) continue;
    if (key === 'properties' && isObject(value)) findings.push(...lintProperties(value, `${at}/properties`));
    else findings.push(...lintNode(value, `${at}/${key}`));
  }
  return findings;
}

function lintProperties(properties: JsonObject, at: string): string[] {
  return Object.entries(properties).flatMap(([name, schema]) => {
    const findings = lintNode(schema, `${at}/${name}`);
    if (!isObject(schema)) return [...findings, `${at}/${name}: not a schema object`];
    if (!isText(schema.description)) findings.push(`${at}/${name}: no description`);
    const hasExample = schema.example !== undefined || list(schema, 'examples').length > 0;
    if (!hasExample && !isMadeOfReferences(schema)) findings.push(`${at}/${name}: no example`);
    return findings;
  });
}

/** True for a reference, null, or a choice or list of those: the examples are at the referenced schema. */
function isMadeOfReferences(schema: Json | undefined): boolean {
  if (!isObject(schema)) return false;
  if (typeof schema.$ref === 'string' || schema.type === 'null') return true;
  const choices = [...list(schema, 'oneOf'), ...list(schema, 'anyOf')];
  if (choices.length > 0) return choices.every(isMadeOfReferences);
  return schema.items !== undefined && isMadeOfReferences(schema.items);
}

function isText(value: Json | undefined): boolean {
  return typeof value === 'string' && value.trim() !== '';
}

/** Numbers of all decisions, from headings such as `### 14. Title` in every spec/<contract>/decisions.md. */
function decisionsIn(folder: string): { numbers: Set<number>; findings: string[] } {
  const files = readdirSync(folder)
    .map(name => join(folder, name, 'decisions.md'))
    .filter(existsSync);
  const home = new Map<number, string>();
  const findings: string[] = [];
  for (const file of files) {
    for (const [, digits] of readFileSync(file, 'utf8').matchAll(/^### (\d+)\. \S/gm)) {
      const number = Number(digits);
      const other = home.get(number);
      if (other !== undefined) findings.push(`${file}: decision ${number} stands in ${other} already`);
      home.set(number, file);
    }
  }
  if (home.size === 0) findings.push(`${folder}: no decisions`);
  return { numbers: new Set(home.keys()), findings };
}

/**
 * Runs Redocly and returns its findings, including warnings. Its report is JSON on standard output; its own failures go
 * to standard error.
 */
function lintWithRedocly(file: string): string[] {
  const { stdout, stderr } = spawnSync(
    process.execPath,
    [REDOCLY, 'lint', file, '--extends=recommended-strict', '--format=json', '--max-problems=1000'],
    {
      encoding: 'utf8',
      env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
      maxBuffer: 64 * 1024 * 1024,
    },
  );
  let report: Json;
  try {
    report = JSON.parse(stdout);
  } catch {
    return [`${file}: redocly gave no report: ${stderr.trim()}`];
  }
  if (!isObject(report) || !Array.isArray(report.problems))
    return [`${file}: redocly's report has no problems list`];
  return report.problems.map(problem => {
    if (!isObject(problem)) return `${file}: ${JSON.stringify(problem)}`;
    const [place] = list(problem, 'location');
    const source = isObject(place) ? child(place, 'source').ref : undefined;
    const pointer = isObject(place) ? place.pointer : undefined;
    return `${source ?? file} ${pointer ?? '#'}: ${problem.message} (redocly ${problem.ruleId})`;
  });
}
