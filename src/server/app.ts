import express, { type Express, type NextFunction, type Request, type Response } from 'express'
import { modelRoute, namesMethod, ROUTES, vendorRoutes } from '../formats/routes.ts'
import { type Gateway, IMAGES_PATH } from '../gateway/index.ts'
import { CONSOLE_PATH, pathOf } from './address.ts'
import { withAnswerCount } from './count-answers.ts'
import { handleRequest, listModels, refuseRequest } from './handlers.ts'
import { sendImage } from './images.ts'
import { lazyAdmin, lazyConsole } from './lazy-operators.ts'
import { METRICS_PATH } from './metrics.ts'
import { MODEL_LISTS } from './model-lists.ts'
import type { Probe } from './probes.ts'
import { malformedPath, refusedMethod, unknownPath } from './refusals.ts'
import { rootPage } from './root-page.ts'
import { handleStored, STORED_METHODS, STORED_ROUTES } from './stored-routes.ts'
import { handleTask, REMIX_PATH, remixRoute, taskMethods, taskRoutes } from './task-routes.ts'
import { handleSecret, REALTIME_PATH, SECRETS_PATH } from './voice-sessions.ts'

/**
 * Builds the express app with one route per endpoint.
 *
 * @param probes handlers of frequently requested paths; these paths are also served without express.
 * @param vendor first path segment of the video vendor's endpoints.
 */
export function appOf(gateway: Gateway, probes: ReadonlyMap<string, Probe>, vendor: string): Express {
  const app = express().disable('x-powered-by').disable('etag').set('query parser', false)
  const refuseMethod = (allow: string) => (message: Request, response: Response) => {
    const { error, headers } = refusedMethod(message, allow)
    return refuseRequest(gateway, error, message, response, headers)
  }
  const methods = taskMethods(vendor)
  for (const route of taskRoutes(vendor))
    app[route.method](
      route.path,
      withAnswerCount(gateway, route.path, (message: Request, response) =>
        handleTask(gateway, route, message, response),
      ),
    )
  app.post(REMIX_PATH, (message, response) =>
    handleRequest(gateway, { route: remixRoute(message.params.id), streams: false }, message, response),
  )
  for (const route of [...ROUTES, ...vendorRoutes(vendor)])
    app
      .post(route.path, (message, response) => handleRequest(gateway, { route, streams: false }, message, response))
      .all(route.path, refuseMethod(methods.get(route.path) ?? 'POST'))
  for (const { method, path, action } of STORED_ROUTES)
    app[method](
      path,
      withAnswerCount(gateway, path, (message: Request, response) => handleStored(gateway, action, message, response)),
    )
  app.post(
    SECRETS_PATH,
    withAnswerCount(gateway, SECRETS_PATH, (message, response) => handleSecret(gateway, message, response)),
  )
  app.post([...MODEL_PATHS, ...HOSTED_MODEL_PATHS], (message, response) =>
    handleRequest(gateway, modelRoute(pathOf(message)), message, response),
  )
  app.all(HOSTED_MODEL_PATHS, refuseMethod('POST'))
  app.all(MODEL_PATHS, (message, response, next) =>
    namesMethod(pathOf(message)) ? refuseMethod('POST')(message, response) : next(),
  )
  for (const { path, shapeOf } of MODEL_LISTS)
    app.get(
      [path, `${path}/*id`],
      withAnswerCount(gateway, path, (message: Request, response) =>
        listModels(gateway, shapeOf(message), message, response, idOf(message.params)),
      ),
    )
  app.get(
    IMAGE_PATH,
    withAnswerCount(gateway, IMAGE_PATH, (message: Request<{ token: string }>, response) =>
      sendImage(gateway, message.params.token, message, response),
    ),
  )
  for (const [path, probe] of probes) app.get(path, probe)
  app.use('/admin', lazyAdmin(gateway))
  app.all([CONSOLE_PATH, `${CONSOLE_PATH}/*path`], lazyConsole(gateway))
  app.get('/', (message, response) => rootPage(gateway, message, response))
  for (const [path, allow] of [...OTHER_METHODS, ...methods]) app.all(path, refuseMethod(allow))
  app.use((message: Request, response: Response) => refuseRequest(gateway, unknownPath(message), message, response))
  app.use((thrown: unknown, message: Request, response: Response, _next: NextFunction) =>
    refuseRequest(gateway, thrown instanceof URIError ? malformedPath() : thrown, message, response),
  )
  return app
}

/** Returns the id from route parameters. Ids may contain slashes. */
const idOf = ({ id }: { readonly id?: string | string[] }): string | undefined =>
  Array.isArray(id) ? id.join('/') : id

const IMAGE_PATH = `${IMAGES_PATH}/:token`

const MODEL_PATHS = ['/v1/models/*rest', '/v1beta/models/*rest', '/v1/tunedModels/*rest', '/v1beta/tunedModels/*rest']

/** Paths of Bedrock, Azure OpenAI and Google Cloud, for every form of base URL that their clients use. */
const HOSTED_MODEL_PATHS = [
  ...['/model/*rest', '/bedrock/model/*rest', '/openai/deployments/*rest'],
  ...['', '/v1', '/v1beta1'].flatMap(version =>
    ['', '/projects/:project/locations/:location'].map(
      parent => `${version}${parent}/publishers/:publisher/models/*rest`,
    ),
  ),
]

const READ_METHODS = 'GET, HEAD'

/** The `allow` header of paths that are not model endpoints. */
const OTHER_METHODS: ReadonlyMap<string, string> = new Map([
  ...STORED_METHODS,
  [REALTIME_PATH, 'GET'],
  [SECRETS_PATH, 'POST'],
  ...MODEL_LISTS.flatMap(({ path }) => [path, `${path}/*rest`]).map(path => [path, READ_METHODS] as const),
  ...[IMAGE_PATH, METRICS_PATH, '/healthz', '/readyz'].map(path => [path, READ_METHODS] as const),
])
