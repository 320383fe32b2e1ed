import { html } from 'htm/preact';
import type { ComponentChildren, VNode } from 'preact';
import { type Described, part, parts, resolved, schemaName, words } from './described.ts';
import { inline, markdown } from './markdown.ts';

/** Operation of a description with its path. */
export interface Operation {
  readonly method: string;
  readonly path: string;
  readonly operation: Described;
  /** Parameters of all operations of the path. */
  readonly shared: readonly Described[];
}

const PARAMETER_SECTIONS = ['path', 'query', 'header'];

/** An operation: its description, a form that sends it, and its responses. `takesKey` asks for an API key. */
export function operationContent(document: Described, { method, path, operation, shared }: Operation): VNode {
  const id = words(operation, 'operationId');
  const parameters = [...shared, ...parts(operation.parameters)]
    .map(parameter => resolved(document, parameter))
    .filter(parameter => PARAMETER_SECTIONS.includes(words(parameter, 'in')));
  const body = part(resolved(document, part(operation.requestBody)), 'content', 'application/json');
  const fields = parameters.map(parameter => parameterField(id, parameter));
  return html`
    <h1>${words(operation, 'summary')}</h1>
    <p><span class=${`method ${method}`}>${method.toUpperCase()}</span> <code>${path}</code></p>
    ${markdown(words(operation, 'description'))}
    <section class="card">
      <h2>Request</h2>
      <form class="request stack" data-method=${method} data-path=${path}>
        ${takesKey(document, operation) && KEY_FIELD}
        ${fields.length > 0 && html`<fieldset class="stack"><legend>Parameters</legend>${fields}</fieldset>`}
        ${body.schema !== undefined && bodyField(id, body)}
        <div><button class="primary">Send</button></div>
        <div class="reply stack" role="status"></div>
      </form>
    </section>
    <section class="card">
      <h2>Responses</h2>
      ${responsesOf(document, operation)}
    </section>
  `;
}

const KEY_FIELD = html`<div class="parameter">
  <label for="key">API key <span class="small">sent as Authorization: Bearer; kept until this tab is closed</span></label>
  <input id="key" type="password" autocomplete="off" />
</div>`;

/** True when the operation, or all of them, need a key. */
function takesKey(document: Described, operation: Described): boolean {
  return parts(operation.security ?? document.security).some(one => Object.keys(one).length > 0);
}

function parameterField(operationId: string, parameter: Described): VNode {
  const name = words(parameter, 'name');
  const section = words(parameter, 'in');
  const schema = part(parameter.schema);
  const items = part(schema.items);
  const id = `${operationId}.${name}`;
  const choices = [schema.enum, items.enum].find(Array.isArray);
  const isList = schema.type === 'array';
  const given = parameter.example ?? '';
  const value = Array.isArray(given) ? given.join(',') : String(given);
  const attributes = {
    id,
    name,
    'data-in': section,
    'aria-describedby': `${id}.about`,
    ...(isList && { 'data-list': '' }),
  };
  return html`<div class="parameter">
    <label for=${id}><code>${name}</code> <span class="small">${section} · ${typeText(schema)}${parameter.required === true ? ' · required' : ''}</span></label>
    ${
      choices !== undefined && !isList
        ? html`<select ...${attributes}>
            <option value=""></option>
            ${choices.map(choice => html`<option selected=${String(choice) === value}>${String(choice)}</option>`)}
          </select>`
        : html`<input ...${attributes} value=${value} placeholder=${isList ? 'separated by commas' : placeholderOf(schema)} autocomplete="off" spellcheck="false" />`
    }
    <p class="small" id=${`${id}.about`}>${inline(words(parameter, 'description'))}${isList && choices !== undefined && ` One of ${choices.join(', ')}.`}</p>
  </div>`;
}

function placeholderOf(schema: Described): string {
  return schema.default === undefined ? '' : `${String(schema.default)} by default`;
}

function bodyField(operationId: string, { schema, example }: Described): VNode {
  const id = `${operationId}.body`;
  return html`<div class="parameter">
    <label for=${id}>Body <span class="small">application/json · ${schemaLink(part(schema))}</span></label>
    <textarea id=${id} name="body" data-in="body" rows="8" spellcheck="false">${example === undefined ? '{}' : json(example)}</textarea>
  </div>`;
}

function responsesOf(document: Described, operation: Described): VNode {
  const rows = Object.entries(part(operation.responses)).map(([status, response]) => {
    const { description, content } = resolved(document, part(response));
    const [[type, media] = []] = Object.entries(part(content));
    const example = status.startsWith('2') ? part(media).example : undefined;
    return html`<div>
      <dt>${status}</dt>
      <dd class="stack">
        <div>${inline(typeof description === 'string' ? description : '')} ${type !== undefined && html`<span class="small">${type} · ${schemaLink(part(part(media).schema))}</span>`}</div>
        ${example !== undefined && html`<details><summary>Example</summary><pre tabindex="0">${json(example)}</pre></details>`}
      </dd>
    </div>`;
  });
  return html`<dl class="facts responses">${rows}</dl>`;
}

function json(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value, undefined, 2);
}

/** Name of a schema as a link to its fields, or its type. */
function schemaLink(schema: Described): ComponentChildren {
  const name = schemaName(schema);
  if (name !== '') return html`<a href=${schemaPath(name)}>${name}</a>`;
  const choices = parts(schema.oneOf ?? schema.anyOf ?? schema.allOf);
  if (choices.length > 0) return choices.map((one, index) => [index > 0 && ' or ', schemaLink(one)]);
  if (schema.type === 'array') return ['list of ', schemaLink(part(schema.items))];
  return typeText(schema);
}

function typeText(schema: Described): string {
  const type = Array.isArray(schema.type) ? schema.type.join(' or ') : words(schema, 'type');
  const text =
    schemaName(schema) || type || (schema.const === undefined ? 'any' : JSON.stringify(schema.const));
  return schema.type === 'array' ? `list of ${typeText(part(schema.items))}` : text;
}

/** Path of the page of a schema. */
export function schemaPath(name: string): string {
  return `/docs/schemas/${name}`;
}

/** Description and fields of a named schema. */
export function schemaContent(name: string, schema: Described): VNode {
  const required = Array.isArray(schema.required) ? schema.required : [];
  const fields = [schema, ...parts(schema.allOf)].flatMap(one => Object.entries(part(one.properties)));
  const choices = Array.isArray(schema.enum) ? schema.enum.map(String).join(', ') : '';
  return html`
    <h1>${name}</h1>
    ${markdown(words(schema, 'description'))}
    ${choices !== '' && html`<p>One of ${choices}.</p>`}
    ${fields.length === 0 && choices === '' && html`<p>${schemaLink(schema)}</p>`}
    ${
      fields.length > 0 &&
      html`<section class="card">
        <h2>Fields</h2>
        <dl class="facts">
          ${fields.map(
            ([field, value]) => html`<div>
              <dt><code>${field}</code></dt>
              <dd>${schemaLink(part(value))}${!required.includes(field) && html` <span class="small">may be absent</span>`} <span class="small">${inline(words(part(value), 'description'))}</span></dd>
            </div>`,
          )}
        </dl>
      </section>`
    }
  `;
}
