import {
  type Document,
  OpenAPIRouter,
  type Operation,
  type ParsedRequest,
  type Request,
} from 'openapi-backend';
import type { OperationRow, OperationTable } from '../contracts/operations.ts';

/** Where a request leads: an operation with its raw path values, or the methods that would have. */
export type Match =
  | { operation: OperationRow; segments: Record<string, string> }
  | { allowed: readonly string[] };

interface Node {
  literals: Map<string, Node>;
  template: Node | undefined;
  operations: Map<string, OperationRow>;
}

/**
 * openapi-backend's router over a tree of path segments, literals before templates. The stock one compiles every
 * path into a RegExp again for each request (half a millisecond at sixty operations) and reads the query its own
 * way; ours costs under a microsecond, and parameters are read once, by the generated table.
 */
export class SegmentRouter extends OpenAPIRouter {
  readonly #root: Node = newNode();
  readonly #operations: Operation[];
  readonly #byId: Map<string, Operation>;

  constructor(definition: Document, table: OperationTable) {
    super({ definition });
    this.#operations = super.getOperations();
    this.#byId = new Map(this.#operations.map(operation => [operation.operationId ?? '', operation]));
    for (const row of Object.values(table)) insert(this.#root, row);
  }

  /** The operation behind a method and a raw path; HEAD goes where GET goes. */
  match(method: string, path: string): Match | undefined {
    const segments = path.split('/');
    if (segments.at(-1) === '' && segments.length > 2) segments.pop();
    const values: string[] = [];
    const node = find(this.#root, segments, 1, values);
    if (node === undefined) return undefined;
    const wanted = method.toLowerCase();
    const operation = node.operations.get(wanted === 'head' ? 'get' : wanted);
    if (operation === undefined) return { allowed: allowedMethods(node) };
    return { operation, segments: named(operation, values) };
  }

  override getOperations(): Operation[] {
    // The parent's constructor runs before our field is set.
    return this.#operations ?? super.getOperations();
  }

  override matchOperation(request: Request): Operation {
    const match = this.match(request.method, request.path);
    if (match === undefined) throw new Error('404-notFound: no route matches request');
    if ('allowed' in match)
      throw new Error('405-methodNotAllowed: this method is not registered for the route');
    const operation = this.#byId.get(match.operation.id);
    if (operation === undefined)
      throw new Error(`404-notFound: ${match.operation.id} is not in the document`);
    return operation;
  }

  override parseRequest(request: Request): ParsedRequest {
    return { ...request, params: {}, query: {}, cookies: {}, requestBody: undefined };
  }
}

function newNode(): Node {
  return { literals: new Map(), template: undefined, operations: new Map() };
}

function insert(root: Node, row: OperationRow): void {
  let node = root;
  for (const segment of row.path.split('/').slice(1)) {
    if (segment.startsWith('{')) {
      node.template ??= newNode();
      node = node.template;
    } else {
      const next = node.literals.get(segment) ?? newNode();
      node.literals.set(segment, next);
      node = next;
    }
  }
  node.operations.set(row.method, row);
}

function find(node: Node, segments: readonly string[], at: number, values: string[]): Node | undefined {
  const segment = segments[at];
  if (segment === undefined) return node.operations.size > 0 ? node : undefined;
  const literal = node.literals.get(segment);
  const found = literal === undefined ? undefined : find(literal, segments, at + 1, values);
  if (found !== undefined || node.template === undefined || segment === '') return found;
  values.push(segment);
  const behind = find(node.template, segments, at + 1, values);
  if (behind === undefined) values.pop();
  return behind;
}

function named(row: OperationRow, values: readonly string[]): Record<string, string> {
  const names = row.path.split('/').filter(segment => segment.startsWith('{'));
  return Object.fromEntries(names.map((name, index) => [name.slice(1, -1), values[index] ?? '']));
}

function allowedMethods(node: Node): string[] {
  const methods = [...node.operations.keys()].map(method => method.toUpperCase());
  return methods.includes('GET') ? ['GET', 'HEAD', ...methods.filter(method => method !== 'GET')] : methods;
}
