import type { RepeatableAnswer } from '../../http/app/fast-path.ts';
import type { Representation } from '../../http/representation.ts';

/** How one parameter is read from text; made by `npm run generate`. */
export interface ParameterRow {
  readonly name: string;
  readonly in: string;
  readonly required: boolean;
  readonly read: 'string' | 'integer' | 'number' | 'boolean' | 'bigint';
  /**
   * `one` value; a `list`, whose items are separated by commas, by repetition of the key, or both; or a `repeated` list,
   * whose items may hold commas (Decision 183).
   */
  readonly many: 'one' | 'repeated' | 'list';
  /** An empty value, or the text `null`, counts as not given. */
  readonly nullable?: boolean;
  /** Width of a `bigint`: it is below 2^bits and not negative. */
  readonly bits?: number;
  readonly default?: unknown;
}

/** One operation as it is reached over HTTP. */
export interface OperationRow {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly parameters: readonly ParameterRow[];
  /** How names of query parameters begin that are refused unless they are among `parameters`. */
  readonly closed?: readonly string[];
  /** Whether undeclared query parameters are refused whose names are near a declared one. */
  readonly refusesMisspelt?: boolean;
  /** Whether the operation takes a JSON body. */
  readonly body?: boolean;
  /** Whether a request may name itself by `Idempotency-Key`. */
  readonly replayable?: boolean;
  /** Content types of answers that are not JSON, by status. */
  readonly media?: Readonly<Record<string, string>>;
  readonly statuses: readonly number[];
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
}

export type OperationTable = Readonly<Record<string, OperationRow>>;

/** What a generated type says of one operation. */
interface OperationShape {
  parameters: { path?: unknown; query?: unknown };
  responses: object;
}

type PresentParameters<T> = [T] extends [undefined] ? Record<string, never> : Exclude<T, undefined>;

/** What one operation's handler receives: read, validated, defaults filled in; a `body` where the operation takes one. */
export type OperationRequest<Operation> = {
  path: Operation extends OperationShape ? PresentParameters<Operation['parameters']['path']> : never;
  query: Operation extends OperationShape ? PresentParameters<Operation['parameters']['query']> : never;
} & BodyOf<Operation>;

/** An empty body counts as an empty object, so there always is one, also where the contract calls it optional. */
type BodyOf<Operation> = Operation extends { requestBody: { content: { 'application/json': infer Body } } }
  ? { body: Body }
  : Operation extends { requestBody?: infer Body }
    ? OptionalBody<Exclude<Body, undefined>>
    : unknown;

type OptionalBody<Body> = [Body] extends [never]
  ? unknown
  : Body extends { content: { 'application/json': infer Json } }
    ? { body: Json }
    : unknown;

type JsonOf<Response> = Response extends { content: { 'application/json': infer Body } }
  ? Body
  : Response extends { content: { 'text/csv': infer Text } | { 'application/yaml': infer Text } }
    ? Text
    : never;

/** The body of one operation's 200 answer. */
export type OperationBody<Operation> = Operation extends { responses: { 200: infer Response } }
  ? JsonOf<Response>
  : never;

/** A body that was serialised before, for example when it entered a cache; `Body` says of what. */
export interface EncodedBody<Body> {
  readonly representation: Representation;
  /** Set for a cache hit. */
  readonly repeatable?: RepeatableAnswer;
  /** Never present: it only ties the bytes to their type. */
  readonly of?: Body;
}

/** What a handler answers: one of the operation's declared statuses with that status's body. */
export type OperationResponse<Operation> = Operation extends { responses: infer Responses }
  ? {
      [Status in keyof Responses]: {
        status: Status;
        headers?: Readonly<Record<string, string>>;
      } & ({ body: JsonOf<Responses[Status]> } | { encoded: EncodedBody<JsonOf<Responses[Status]>> });
    }[keyof Responses]
  : never;

/** What a handler may know of the request beside its parameters. */
export interface Caller {
  /** Request headers, names in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

/** Every operation of a contract with exactly one handler: a missing or misspelt one does not compile. */
export type Handlers<Operations> = {
  [Id in keyof Operations]: (
    request: OperationRequest<Operations[Id]>,
    caller: Caller,
  ) => Promise<OperationResponse<Operations[Id]>>;
};

/** The operations of a generated table that need no credentials. */
export type PublicOperation<Table extends OperationTable> = {
  [Id in keyof Table]: Table[Id]['security'] extends readonly [] ? Id : never;
}[keyof Table];

/** Handlers where the caller of an operation with security is known, and that of one without is a visitor. */
export type GatedHandlers<Operations, Public extends keyof Operations, Known, Visitor> = {
  [Id in keyof Operations]: (
    request: OperationRequest<Operations[Id]>,
    caller: Id extends Public ? Visitor : Known,
  ) => Promise<OperationResponse<Operations[Id]>>;
};
