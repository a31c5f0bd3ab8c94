import { withEscapedControls } from '../canonical/text.ts'
import type { Work } from '../canonical/work.ts'
import { suggestion } from '../config/faults.ts'
import type { ChannelConfig, Config } from '../config/index.ts'
import type { Env } from '../config/variable.ts'
import { MESSAGES_VERSION } from '../formats/dialects/messages.ts'
import { fitnessOf } from '../formats/index.ts'
import { type ClientAccess, clientAccess, curlOf, quoted } from './client-access.ts'
import { program, type Terminal, UsageError } from './outcome.ts'
import { configAt } from './with-store.ts'

/** Environment variable for the key in printed examples. `docs/start.md` uses the same name. */
export const KEY_NAME = 'INTERLINGUA_KEY'
export const KEY_VARIABLE = `$${KEY_NAME}`

/** A sample request for one endpoint, printed only if some channel can do its kind of work. */
interface Example {
  readonly work: Work
  readonly path: string
  readonly body: (model: string) => object
  /** Returns curl's header options with the key. `Authorization: Bearer` by default. */
  readonly headers?: (key: string) => string
  /** File in which curl saves the answer, but not an error. */
  readonly file?: string
  /** True if the answer is a task, whose file is saved once the task is complete. */
  readonly isTask?: true
  /** Returns the form fields in curl's syntax, if the body is a form. */
  readonly form?: (model: string) => readonly string[]
}

const CHAT_MESSAGES = [{ role: 'user', content: 'Say hello.' }]
const CONTENTS = [{ role: 'user', parts: [{ text: 'Say hello.' }] }]
/** A 1×1 pixel PNG for the image edit example. */
const ONE_PIXEL =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=='
const anthropicHeaders = (key: string): string => `-H "x-api-key: ${key}" -H 'anthropic-version: ${MESSAGES_VERSION}'`
const googleHeaders = (key: string): string => `-H "x-goog-api-key: ${key}"`

/**
 * Examples in printing order, one per endpoint. The speech example saves a file that the transcription example uploads.
 */
const EXAMPLES: readonly Example[] = [
  { work: 'conversation', path: '/v1/chat/completions', body: model => ({ model, messages: CHAT_MESSAGES }) },
  { work: 'conversation', path: '/v1/responses', body: model => ({ model, input: 'Say hello.' }) },
  {
    work: 'conversation',
    path: '/v1/messages',
    headers: anthropicHeaders,
    body: model => ({ model, max_tokens: 1024, messages: CHAT_MESSAGES }),
  },
  {
    work: 'conversation',
    path: '/v1beta/models/MODEL:generateContent',
    headers: googleHeaders,
    body: () => ({ contents: CONTENTS }),
  },
  { work: 'completion', path: '/v1/completions', body: model => ({ model, prompt: 'Once upon a time' }) },
  { work: 'count', path: '/v1/responses/input_tokens', body: model => ({ model, input: 'Say hello.' }) },
  {
    work: 'count',
    path: '/v1/messages/count_tokens',
    headers: anthropicHeaders,
    body: model => ({ model, messages: CHAT_MESSAGES }),
  },
  {
    work: 'count',
    path: '/v1beta/models/MODEL:countTokens',
    headers: googleHeaders,
    body: () => ({ contents: CONTENTS }),
  },
  { work: 'compaction', path: '/v1/responses/compact', body: model => ({ model, input: 'Say hello.' }) },
  { work: 'embedding', path: '/v1/embeddings', body: model => ({ model, input: 'hello' }) },
  {
    work: 'embedding',
    path: '/v1beta/models/MODEL:embedContent',
    headers: googleHeaders,
    body: () => ({ content: { parts: [{ text: 'hello' }] } }),
  },
  {
    work: 'ranking',
    path: '/v1/rerank',
    body: model => ({ model, query: 'a greeting', documents: ['hello', 'a horse'] }),
  },
  { work: 'image', path: '/v1/images/generations', body: model => ({ model, prompt: 'a small red square' }) },
  {
    work: 'image',
    path: '/v1/images/edits',
    body: model => ({ model, prompt: 'make it green', images: [{ image_url: ONE_PIXEL }] }),
  },
  {
    work: 'video',
    path: '/v1/videos',
    body: model => ({ model, prompt: 'a paper boat on a pond', seconds: '4', size: '1280x720' }),
    file: 'boat.mp4',
    isTask: true,
  },
  {
    work: 'speech',
    path: '/v1/audio/speech',
    body: model => ({ model, voice: 'alloy', input: 'hello', response_format: 'wav' }),
    file: 'hello.wav',
  },
  {
    work: 'transcription',
    path: '/v1/audio/transcriptions',
    body: () => ({}),
    form: model => ['file=@hello.wav', `model=${model}`],
  },
]

/**
 * `interlingua examples [PATH]`: prints curl commands to paste. Starts with an `export` line for the key, unless
 * the key is given or set in the environment.
 *
 * @throws UsageError if no example matches the path.
 */
export function examplesCommand(
  path: string | undefined,
  { config, key, address }: { readonly config?: string; readonly key?: string; readonly address?: string },
  terminal: Terminal,
  env: Env = process.env,
): void {
  const read = configAt(config)
  const access = clientAccess(address ?? addressOf(read.server), read)
  const options = {
    ...access,
    ...(address === undefined ? {} : { address }),
    key: key ?? KEY_VARIABLE,
    channels: read.channels,
  }
  if (path !== undefined && !EXAMPLE_PATHS.some(one => one.includes(path)))
    throw new UsageError(`no endpoint has '${path}' in its path${suggestion(path, EXAMPLE_PATHS)}`)
  const lines = exampleLines(options, path)
  if (lines.length === 0) terminal.fault('No channel can answer such requests.')
  else
    terminal.out(
      [...(key === undefined && !env[KEY_NAME] ? [exportLine()] : []), ...lines].map(withEscapedControls).join('\n'),
    )
}

const exportLine = (): string =>
  `  export ${KEY_NAME}=il-…   # your key: printed at the first start; \`${program()} keys create NAME\` creates another`

/** Returns the gateway's URL for clients: the first public URL, because certificates are issued for public names. */
const addressOf = ({ tls, publicUrls: [first], host, port }: Config['server']): string =>
  first ?? `${tls === undefined ? 'http' : 'https'}://${host.includes(':') ? `[${host}]` : host}:${port}`

/** The target and the key of example requests. */
export interface ExampleOptions extends ClientAccess {
  readonly key: string
  readonly channels: readonly ChannelConfig[]
}

/**
 * Returns one line to paste for each endpoint that some channel can answer. Model and key need no shell quoting.
 *
 * @param path the path of an endpoint, or part of it. The default is all endpoints.
 */
export function exampleLines({ channels, ...options }: ExampleOptions, path = ''): string[] {
  const { address, key } = options
  const curl = curlOf(options)
  // -f makes curl fail on errors instead of saving them to the file.
  const savingCurl = curlOf(options, '-sSf')
  const bearer = `-H "authorization: Bearer ${key}"`
  const lines = EXAMPLES.filter(example => example.path.includes(path)).flatMap(example => {
    const model = modelFor(example.work, channels)
    return model === undefined ? [] : [lineOf(example, { address, curl, savingCurl, key, bearer, model })]
  })
  const models = `  ${curl} ${quoted(`${address}${MODELS}`)} ${bearer}`
  return MODELS.includes(path) ? [models, ...lines] : lines
}

const MODELS = '/v1/models'

/** Paths that have an example. */
const EXAMPLE_PATHS: readonly string[] = [MODELS, ...EXAMPLES.map(({ path }) => path)]

interface LineOptions {
  readonly address: string
  readonly curl: string
  /** The curl command for requests whose answer is saved. */
  readonly savingCurl: string
  readonly key: string
  readonly bearer: string
  readonly model: string
}

function lineOf(
  { path, headers, body, file, form, isTask }: Example,
  { address, curl, savingCurl, key, bearer, model }: LineOptions,
): string {
  const content =
    form === undefined
      ? `-H 'content-type: application/json' -d ${quoted(JSON.stringify(body(model)))}`
      : form(model)
          .map(field => `-F ${quoted(field)}`)
          .join(' ')
  const request = `${quoted(address + path.replace('MODEL', model))} ${headers?.(key) ?? bearer} ${content}`
  if (file === undefined) return `  ${curl} ${request}`
  return isTask === true
    ? `  ${taskLine(request, address + path, { savingCurl, bearer, file })}`
    : `  ${savingCurl} ${request} -o ${file}`
}

/** Returns a line that submits a task, waits until it ends, and saves its file. */
const taskLine = (
  request: string,
  url: string,
  { savingCurl, bearer, file }: { savingCurl: string; bearer: string; file: string },
): string =>
  [
    `ID=$(${savingCurl} ${request} | sed 's/.*"id": *"\\([^"]*\\)".*/\\1/')`,
    `while ${savingCurl} ${quoted(url)}/$ID ${bearer} | grep -Eq '"status": *"(queued|in_progress)"'; do sleep 1; done`,
    `${savingCurl} ${quoted(url)}/$ID/content ${bearer} -o ${file}`,
  ].join('; ')

/** Returns the first model of the first channel that can do the work, natively or by emulation. */
function modelFor(work: Work, channels: readonly ChannelConfig[]): string | undefined {
  const fits = (channel: ChannelConfig): boolean =>
    channel.formats.some(({ format }) => fitnessOf(format, work) !== undefined)
  const channel = channels.find(fits)
  return channel === undefined ? undefined : (channel.models.named.keys().next().value ?? 'MODEL')
}
