import type { Work } from '../canonical/work.ts'
import { suggestion } from '../config/faults.ts'
import type { ChannelConfig, Config } from '../config/index.ts'
import { fitnessOf } from '../providers/index.ts'
import { type Terminal, UsageError } from './outcome.ts'
import { configAt } from './stored.ts'

/** The key's name in examples that are printed without a key. */
export const KEY_VARIABLE = '$INTERLINGUA_KEY'

/** An endpoint to try, and the kind of work some channel must do for it. */
interface Example {
  readonly work: Work
  readonly path: string
  readonly body: (model: string) => object
  /** The headers of this endpoint's clients, with the key; `Authorization: Bearer` by default. */
  readonly headers?: (key: string) => string
  /** The file that the answer is saved to; errors are not. */
  readonly file?: string
  /** The answer is a task, whose file is saved once it is completed. */
  readonly isTask?: true
  /** The body is a form: its fields as curl takes them. */
  readonly form?: (model: string) => readonly string[]
}

const TURNS = [{ role: 'user', content: 'Say hello.' }]
const CONTENTS = [{ role: 'user', parts: [{ text: 'Say hello.' }] }]
/** The smallest possible image, to be edited. */
const DOT =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=='
const version = (key: string): string => `-H "x-api-key: ${key}" -H 'anthropic-version: 2023-06-01'`
const google = (key: string): string => `-H "x-goog-api-key: ${key}"`

/** One for each endpoint, in the order they are printed; speech is saved to a file, which the transcription reads. */
const EXAMPLES: readonly Example[] = [
  { work: 'conversation', path: '/v1/chat/completions', body: model => ({ model, messages: TURNS }) },
  { work: 'conversation', path: '/v1/responses', body: model => ({ model, input: 'Say hello.' }) },
  {
    work: 'conversation',
    path: '/v1/messages',
    headers: version,
    body: model => ({ model, max_tokens: 1024, messages: TURNS }),
  },
  {
    work: 'conversation',
    path: '/v1beta/models/MODEL:generateContent',
    headers: google,
    body: () => ({ contents: CONTENTS }),
  },
  { work: 'completion', path: '/v1/completions', body: model => ({ model, prompt: 'Once upon a time' }) },
  { work: 'count', path: '/v1/responses/input_tokens', body: model => ({ model, input: 'Say hello.' }) },
  {
    work: 'count',
    path: '/v1/messages/count_tokens',
    headers: version,
    body: model => ({ model, messages: TURNS }),
  },
  {
    work: 'count',
    path: '/v1beta/models/MODEL:countTokens',
    headers: google,
    body: () => ({ contents: CONTENTS }),
  },
  { work: 'compaction', path: '/v1/responses/compact', body: model => ({ model, input: 'Say hello.' }) },
  { work: 'embedding', path: '/v1/embeddings', body: model => ({ model, input: 'hello' }) },
  {
    work: 'embedding',
    path: '/v1beta/models/MODEL:embedContent',
    headers: google,
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
    body: model => ({ model, prompt: 'make it green', images: [{ image_url: DOT }] }),
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
 * `interlingua examples [DOOR]`: prints lines to paste.
 *
 * @throws UsageError for a door that no example has.
 */
export function examplesCommand(
  door: string | undefined,
  {
    config,
    key = KEY_VARIABLE,
    address,
  }: { readonly config?: string; readonly key?: string; readonly address?: string },
  terminal: Terminal,
): void {
  const { server, channels } = configAt(config)
  const options = { address: address ?? addressOf(server), key, channels }
  if (door !== undefined && !EXAMPLE_PATHS.some(path => path.includes(door)))
    throw new UsageError(`no endpoint has '${door}' in its path${suggestion(door, EXAMPLE_PATHS)}`)
  const lines = exampleLines(options, door)
  if (lines.length === 0) terminal.fault('No channel can answer such a request.')
  else terminal.out(lines.join('\n'))
}

/** Where clients reach a gateway: certificates are for public names. */
const addressOf = ({ tls, publicUrls: [first], host, port }: Config['server']): string =>
  first ?? `${tls === undefined ? 'http' : 'https'}://${host.includes(':') ? `[${host}]` : host}:${port}`

/** Where examples are sent, and by whom. */
export interface ExampleOptions {
  readonly address: string
  readonly key: string
  readonly channels: readonly ChannelConfig[]
}

/**
 * One line to paste for each endpoint that some channel can answer. Models and key have no characters special to
 * shells.
 *
 * @param door the path of an endpoint, or a part of it that is enough to recognise it; all of them by default.
 */
export function exampleLines({ address, key, channels }: ExampleOptions, door = ''): string[] {
  const bearer = `-H "authorization: Bearer ${key}"`
  const lines = EXAMPLES.filter(({ path }) => path.includes(door)).flatMap(example => {
    const model = modelFor(example.work, channels)
    return model === undefined ? [] : [lineOf(example, { address, key, bearer, model })]
  })
  const models = `  curl -s ${quoted(`${address}${MODELS}`)} ${bearer}`
  return MODELS.includes(door) ? [models, ...lines] : lines
}

const MODELS = '/v1/models'

/** The paths that examples can be had of. */
const EXAMPLE_PATHS: readonly string[] = [MODELS, ...EXAMPLES.map(({ path }) => path)]

interface Place extends Omit<ExampleOptions, 'channels'> {
  readonly bearer: string
  readonly model: string
}

function lineOf({ path, headers, body, file, form, isTask }: Example, { address, key, bearer, model }: Place): string {
  const content =
    form === undefined
      ? `-H 'content-type: application/json' -d ${quoted(JSON.stringify(body(model)))}`
      : form(model)
          .map(field => `-F ${quoted(field)}`)
          .join(' ')
  const request = `${quoted(address + path.replace('MODEL', model))} ${headers?.(key) ?? bearer} ${content}`
  if (file === undefined) return `  curl -s ${request}`
  // With -f no error is saved as if it were the file.
  return isTask === true
    ? `  ${taskLine(request, address + path, { bearer, file })}`
    : `  curl -sSf ${request} -o ${file}`
}

/** Submits a task, waits for its end, and saves its file. */
const taskLine = (request: string, url: string, { bearer, file }: { bearer: string; file: string }): string =>
  [
    `ID=$(curl -sSf ${request} | sed 's/.*"id": *"\\([^"]*\\)".*/\\1/')`,
    `while curl -sf ${quoted(url)}/$ID ${bearer} | grep -Eq '"status": *"(queued|in_progress)"'; do sleep 1; done`,
    `curl -sSf ${quoted(url)}/$ID/content ${bearer} -o ${file}`,
  ].join('; ')

/** The first model of the first channel that can do the work, directly or by an emulation. */
function modelFor(work: Work, channels: readonly ChannelConfig[]): string | undefined {
  const fits = (channel: ChannelConfig): boolean =>
    channel.formats.some(({ format }) => fitnessOf(format, work) !== undefined)
  const channel = channels.find(fits)
  return channel === undefined ? undefined : (channel.models.named.keys().next().value ?? 'MODEL')
}

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`
