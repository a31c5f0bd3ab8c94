import { MODEL_METHODS, ROUTES, vendorRoutes } from '../../src/formats/routes.ts'
import { MODEL_LISTS } from '../../src/server/model-lists.ts'
import { STORED_ROUTES } from '../../src/server/stored-routes.ts'
import { REMIX_PATH, taskRoutes } from '../../src/server/task-routes.ts'
import { REALTIME_PATH, SECRETS_PATH } from '../../src/server/voice-sessions.ts'
import type { Ask } from './ask.ts'
import { CONVERSATION_CASES } from './endpoints/conversations.ts'
import { MEDIA_CASES } from './endpoints/media.ts'
import { OTHER_CASES } from './endpoints/others.ts'
import { STORED_CASES } from './endpoints/stored.ts'
import { FINISHED_CASES, VIDEO_CASES } from './endpoints/videos.ts'
import type { Outcomes } from './outcomes.ts'

/** Services for a case, and results of earlier cases. */
export interface World {
  readonly ask: Ask
  /** `http://127.0.0.1:49152` */
  readonly address: string
  readonly key: string
  readonly model: string
  /** Ids of objects that earlier cases created. */
  readonly made: Map<string, string>
}

export type Step = (world: World) => Promise<void>

/**
 * Cases by method and path, such as `POST /v1/chat/completions`. The order matters, because some need the results of
 * others.
 */
export type Cases = { readonly [endpoint: string]: Step | { readonly whole: Step; readonly streamed: Step } }

const VENDOR = 'videovendor'
const ON_GOOGLE = (path: string): string => `POST /v1/publishers/${path}`

/** Every endpoint for callers, from the tables of the gateway's routes. */
export const ENDPOINTS: ReadonlySet<string> = new Set([
  ...[...ROUTES, ...vendorRoutes(VENDOR)].map(({ path }) => `POST ${path}`),
  ...[...MODEL_METHODS.values()].flatMap(({ endpoints, pathOf }) =>
    [...endpoints.keys()].map(method => `POST ${pathOf('MODEL', method).replace('MODEL', '{model}')}`),
  ),
  ...[...taskRoutes(VENDOR), ...STORED_ROUTES].map(({ method, path }) => `${method.toUpperCase()} ${path}`),
  ...[`POST ${REMIX_PATH}`, `POST ${SECRETS_PATH}`, `GET ${REALTIME_PATH}`, 'GET /v1/responses'],
  ...MODEL_LISTS.filter(({ path }) => !path.startsWith('/bedrock')).flatMap(({ path }) => [
    `GET ${path}`,
    `GET ${path}/:id`,
  ]),
  ...['invoke', 'invoke-with-response-stream'].map(method => `POST /model/{model}/${method}`),
  'POST /openai/deployments/{model}/chat/completions',
  ...['anthropic/models/{model}:rawPredict', 'anthropic/models/{model}:streamRawPredict'].map(ON_GOOGLE),
  ...['google/models/{model}:generateContent', 'google/models/{model}:streamGenerateContent'].map(ON_GOOGLE),
  ...['/healthz', '/readyz', '/metrics', '/console/'].map(path => `GET ${path}`),
])

export const CASES: Cases = {
  ...VIDEO_CASES,
  ...CONVERSATION_CASES,
  ...MEDIA_CASES,
  ...STORED_CASES,
  ...OTHER_CASES,
  ...FINISHED_CASES,
}

/** Calls every endpoint. An endpoint without a case fails, and so does a case without an endpoint. */
export async function tryEndpoints(outcomes: Outcomes, world: World): Promise<void> {
  for (const [endpoint, steps] of Object.entries(CASES)) {
    if (!ENDPOINTS.has(endpoint)) await outcomes.try(endpoint, () => fail('there is no such endpoint'))
    else if (typeof steps === 'function') await outcomes.try(endpoint, () => steps(world))
    else for (const [way, step] of Object.entries(steps)) await outcomes.try(`${endpoint}, ${way}`, () => step(world))
  }
  for (const endpoint of ENDPOINTS)
    if (CASES[endpoint] === undefined) await outcomes.try(endpoint, () => fail('the endpoint has no case'))
}

function fail(why: string): never {
  throw new Error(why)
}
