import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Format, isObject, type Json, type JsonObject } from '../../canonical/node.ts'
import { fitted, repeatingEvents, repeatingResponse, timed } from './adapted.ts'
import { BUILT_IN_FIXTURES, type Case, readCases } from './fixtures.ts'
import { FRAMES, framesOf } from './frames.ts'
import { withNewIds } from './ids.ts'
import { casesFor, type MockRequest, modelOf, pick } from './pick.ts'
import { mockSockets } from './sockets.ts'
import { MockVideos } from './videos.ts'

/** The running mock: an upstream that answers from fixtures, in every format that has fixtures. */
export interface Mock {
  /** The base URL, such as `http://127.0.0.1:49152`. */
  readonly url: string
  readonly cases: readonly Case[]
  close(): Promise<void>
}

/** The options of the mock. */
export interface MockOptions {
  readonly folder?: string
  readonly host?: string
  /** Port; 0 for any free port. */
  readonly port?: number
  /** Clock of video tasks. Returns the Unix time in milliseconds. */
  readonly now?: () => number
}

/** Starts the mock. It serves every format with fixtures and the list of its models, and needs no key. */
export async function openMock({
  folder = BUILT_IN_FIXTURES,
  host = '127.0.0.1',
  port = 0,
  now = Date.now,
}: MockOptions = {}): Promise<Mock> {
  const cases = servedCases(folder)
  const videos = new MockVideos(cases, now)
  const server = createServer((request, response) => {
    bodyOf(request)
      .then(body => {
        const url = urlOf(request)
        if (!videos.answer(request, url, body, response)) answer(cases, request, url, body, response)
      })
      .catch(() => send(response, 400, fault('The body is not JSON, or nested too deeply.')))
  })
  const endSessions = mockSockets(server)
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  })
  const { port: taken } = server.address() as AddressInfo
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${taken}`,
    cases,
    close: () =>
      new Promise(resolve => {
        server.close(() => resolve())
        endSessions()
        server.closeAllConnections()
      }),
  }
}

/** The cases from which the mock of a folder answers. */
export const servedCases = (folder: string = BUILT_IN_FIXTURES): readonly Case[] =>
  readCases(folder).filter(({ format }) => SERVED.has(format))

/** Reads the JSON body, or the text fields of a form. */
async function bodyOf(request: IncomingMessage): Promise<JsonObject> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const type = request.headers['content-type'] ?? ''
  if (type.startsWith('multipart/form-data')) {
    const form = await new Response(Buffer.concat(chunks), { headers: { 'content-type': type } }).formData()
    const texts = (name: string) => form.getAll(name).filter(value => typeof value === 'string')
    const fields = [...new Set(form.keys())].map(name => [name, texts(name)] as const)
    return Object.fromEntries(
      fields.flatMap(([name, [first, ...more]]) =>
        first === undefined ? [] : [[name, more.length === 0 ? first : [first, ...more]]],
      ),
    )
  }
  const value: Json = chunks.length === 0 ? {} : (JSON.parse(Buffer.concat(chunks).toString()) as Json)
  return isObject(value) ? value : {}
}

/** Format of each path. Some paths contain the model and the method, some have only one case. */
const PATHS: readonly { readonly path: RegExp; readonly format: Format; readonly only?: string }[] = [
  { path: /^\/v1\/chat\/completions$/, format: 'chat' },
  { path: /^\/v1\/responses$/, format: 'responses' },
  { path: /^\/v1\/responses\/compact$/, format: 'responses', only: 'compact' },
  { path: /^\/v1\/messages$/, format: 'messages' },
  { path: /^\/v1\/completions$/, format: 'completions' },
  { path: /^\/v1\/embeddings$/, format: 'embeddings' },
  { path: /^\/v1\/rerank$/, format: 'rerank' },
  { path: /^\/v2\/chat$/, format: 'cohere-chat' },
  { path: /^\/v2\/rerank$/, format: 'cohere', only: 'rerank' },
  { path: /^\/v2\/embed$/, format: 'cohere', only: 'embed' },
  { path: /^\/v1\/images\/(?:generations|edits|variations)$/, format: 'images' },
  { path: /^\/v1\/audio\/speech$/, format: 'speech' },
  { path: /^\/v1\/audio\/(?:transcriptions|translations)$/, format: 'transcriptions' },
  { path: /^\/v1(?:beta)?\/models\/.+:embedContent$/, format: 'contents', only: 'embed' },
  { path: /^\/v1(?:beta)?\/models\/.+:batchEmbedContents$/, format: 'contents', only: 'embed-batch' },
  {
    path: /^\/v1(?:beta)?\/models\/(?<model>.+):(?<method>generateContent|streamGenerateContent)$/,
    format: 'contents',
  },
  { path: /^\/model\/(?<model>.+)\/(?<method>converse|converse-stream)$/, format: 'converse' },
]

/** Methods that answer whole. */
const WHOLE: ReadonlySet<string | undefined> = new Set(['generateContent', 'converse'])

const VIDEOS = 'videos'
const SERVED: ReadonlySet<Format> = new Set([...PATHS.map(({ format }) => format), VIDEOS])

const urlOf = (request: IncomingMessage): URL => new URL(request.url ?? '/', 'http://replay')

/** Answers a request from the best matching case. */
function answer(
  cases: readonly Case[],
  request: IncomingMessage,
  url: URL,
  body: JsonObject,
  response: ServerResponse,
): void {
  const mockRequest = request.method === 'POST' ? requestOf(url, body) : undefined
  const able = mockRequest === undefined ? [] : casesFor(cases, mockRequest, url.pathname)
  const found = mockRequest === undefined ? undefined : pick(able, mockRequest)
  if (request.method === 'GET' && /^\/v1(?:beta)?\/models$/.test(url.pathname)) send(response, 200, listOf(cases))
  else if (mockRequest === undefined) send(response, 404, fault(`There is no ${url.pathname} here.`))
  else if (able.length === 0) send(response, 422, NO_CONTAINER)
  else if (found === undefined) send(response, 404, fault(`There is no fixture for the format ${mockRequest.format}.`))
  else if (!mockRequest.stream && found.result === undefined) end(response, 200, found.raw!.mediaType, found.raw!.bytes)
  else if (!mockRequest.stream)
    sendText(response, 200, withNewIds(JSON.stringify(resultOf(mockRequest, found.result!)), found))
  else if (mockRequest.format === 'contents' && url.searchParams.get('alt') !== 'sse')
    sendText(response, 200, asArray(withNewIds(found.events!, found)))
  else if (mockRequest.format === 'converse') end(response, 200, FRAMES, framesOf(withNewIds(found.events!, found)))
  else end(response, 200, 'text/event-stream', withNewIds(eventsOf(mockRequest, found.events!), found))
}

const resultOf = ({ format, body }: MockRequest, result: JsonObject): JsonObject =>
  format === 'responses' ? repeatingResponse(body, result) : timed(body, fitted(body, result))

const eventsOf = ({ format, body }: MockRequest, events: string): string =>
  format === 'responses' ? repeatingEvents(body, events) : events

const fault = (message: string): JsonObject => ({ error: { message } })

/** Error at which a gateway tries another channel. */
const NO_CONTAINER: JsonObject = {
  error: {
    message: 'response_format: there is no recording in this container here.',
    type: 'invalid_request_error',
    param: 'response_format',
    code: 'cannot_express',
  },
}

/** Reads format, model and streaming from a request. Undefined for an unknown path. */
function requestOf(url: URL, body: JsonObject): MockRequest | undefined {
  for (const { path, format, only } of PATHS) {
    const match = path.exec(url.pathname)
    if (match === null) continue
    const model = only === undefined ? (match.groups?.['model'] ?? body['model']) : modelOf({ format, name: only })
    const stream = match.groups === undefined ? wantsStream(body) : !WHOLE.has(match.groups['method'])
    return { format, model: typeof model === 'string' ? decodeURIComponent(model) : '', stream, body }
  }
  return undefined
}

/** Whether a stream is requested. Forms have strings, and speech has another field. */
const wantsStream = ({ stream, stream_format }: JsonObject): boolean =>
  stream === true || stream === 'true' || stream_format === 'sse'

/** Lists the models in the shapes of all formats at once. */
function listOf(cases: readonly Case[]): JsonObject {
  const ids = ['replay', ...cases.map(modelOf)]
  return {
    object: 'list',
    data: ids.map(id => ({ id, object: 'model', type: 'model', display_name: id, created: 0, owned_by: 'replay' })),
    models: ids.map(id => ({ name: `models/${id}` })),
  }
}

/** Converts recorded events to a JSON list, for callers that do not request server-sent events. */
const asArray = (events: string): string =>
  `[${[...events.matchAll(/^data: ?(.*)$/gm)].map(match => match[1]!.trim()).join(',\r\n')}]`

const send = (response: ServerResponse, status: number, body: JsonObject): void =>
  sendText(response, status, JSON.stringify(body))

const sendText = (response: ServerResponse, status: number, text: string): void =>
  end(response, status, 'application/json', text)

function end(response: ServerResponse, status: number, type: string, body: string | Buffer): void {
  response.writeHead(status, { 'content-type': type })
  response.end(body)
}
