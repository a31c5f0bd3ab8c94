import { CALLER_FORMATS } from '../../src/formats/index.ts'
import { MODEL_METHODS, ROUTES, vendorRoutes } from '../../src/formats/routes.ts'
import { roleFor } from '../../src/operators/admin/endpoint.ts'
import { ENDPOINTS } from '../../src/operators/admin/index.ts'
import { MODEL_LISTS } from '../../src/server/model-lists.ts'
import { STORED_ROUTES } from '../../src/server/stored-routes.ts'
import { REMIX_PATH, taskRoutes } from '../../src/server/task-routes.ts'
import { REALTIME_PATH, SECRETS_PATH } from '../../src/server/voice-sessions.ts'

/** The kind of access that an endpoint gives. */
export type Access =
  /** A request to a model. */
  | 'call'
  /** A voice session. A client secret opens one. */
  | 'voice'
  /** The models that a key may call. */
  | 'models'
  /** An object that one key owns, such as a stored response. */
  | 'object'
  /** The metrics page. */
  | 'metrics'
  /** Operators' data that viewers may see, and data that only admins may see. */
  | 'view'
  | 'admin-view'
  /** Requests that change something, or that send a body: of viewers, and of admins alone. */
  | 'action'
  | 'admin-action'
  | 'public'

export interface Cell {
  readonly method: string
  /** Path of the endpoint in the table it comes from, with its parameters. */
  readonly pattern: string
  readonly access: Access
  /** Format of the endpoint. A key that is limited to other formats may not use it. */
  readonly format?: string
  /** Body that the endpoint accepts. By default a body that no endpoint accepts, so that nothing is changed. */
  readonly body?: object
}

const VENDOR = 'videovendor'

const calls = (): readonly Cell[] => [
  ...[...ROUTES, ...vendorRoutes(VENDOR)].map(
    ({ path, format }): Cell => ({ method: 'POST', pattern: path, access: 'call', format }),
  ),
  ...[...MODEL_METHODS].flatMap(([format, { endpoints, pathOf }]) =>
    [...endpoints.keys()].map(
      (method): Cell => ({ method: 'POST', pattern: pathOf('m', method), access: 'call', format }),
    ),
  ),
  ...HOSTED.map(([pattern, format]): Cell => ({ method: 'POST', pattern, access: 'call', format })),
  { method: 'POST', pattern: SECRETS_PATH, access: 'call', format: 'realtime' },
]

/** Endpoints of clouds that host a format, which are matched by a pattern instead of a table. */
const HOSTED = [
  ['/model/m/invoke', 'messages'],
  ['/bedrock/model/m/invoke-with-response-stream', 'messages'],
  ['/bedrock/model/m/converse', 'converse'],
  ['/openai/deployments/m/chat/completions', 'chat'],
  ['/v1/projects/p/locations/l/publishers/anthropic/models/m:rawPredict', 'messages'],
  ['/v1/projects/p/locations/l/publishers/google/models/m:generateContent', 'contents'],
] as const

const objects = (): readonly Cell[] => [
  ...STORED_ROUTES.map(
    ({ method, path }): Cell => ({
      ...{ method: method.toUpperCase(), pattern: path },
      format: path.includes('/interactions/') ? 'interactions' : 'responses',
      access: path.includes(':id') ? 'object' : 'call',
      ...(path.endsWith('/items') && method === 'post' ? { body: { items: [] } } : {}),
    }),
  ),
  ...taskRoutes(VENDOR).map(
    ({ method, path, format }): Cell => ({
      ...{ method: method.toUpperCase(), pattern: path, format },
      access: path.includes(':id') ? 'object' : 'call',
    }),
  ),
  { method: 'POST', pattern: REMIX_PATH, access: 'object', format: 'videos', body: { prompt: 'p' } },
]

const operators = (): readonly Cell[] =>
  ENDPOINTS.map(endpoint => ({
    ...{ method: endpoint.method.toUpperCase(), pattern: `/admin/v1${endpoint.path}` },
    access: `${roleFor(endpoint) === 'admin' ? 'admin-' : ''}${endpoint.method === 'get' ? 'view' : 'action'}`,
  }))

const OTHERS: readonly Cell[] = [
  ...MODEL_LISTS.map(({ path }) => path).map(
    (pattern): Cell => ({ method: 'GET', pattern, access: 'models', format: 'chat' }),
  ),
  { method: 'GET', pattern: '/metrics', access: 'metrics' },
  { method: 'GET', pattern: '/admin/v1/openapi.json', access: 'view' },
  ...['/healthz', '/readyz', '/', '/console/'].map((pattern): Cell => ({ method: 'GET', pattern, access: 'public' })),
]

/** Method of a request that opens a WebSocket. */
export const UPGRADE = 'UPGRADE'

const SOCKETS: readonly Cell[] = [
  { method: UPGRADE, pattern: '/v1/responses', access: 'call', format: 'responses' },
  { method: UPGRADE, pattern: `${REALTIME_PATH}?model=voice`, access: 'voice', format: 'realtime' },
]

/** Every endpoint. */
export const CELLS: readonly Cell[] = [...calls(), ...objects(), ...operators(), ...OTHERS, ...SOCKETS]

/** Returns the formats of callers other than one. */
export const formatsWithout = (format: string): readonly string[] =>
  [...CALLER_FORMATS.keys()].filter(name => name !== format)
