import { type IncomingMessage, request } from 'node:http'
import { parseExactly } from '../../../src/canonical/exact-numbers.ts'
import { channelAt, KEY, type TestServerOptions } from '../../builders/config.ts'
import { framesIn } from '../../builders/frames.ts'
import { TestServer } from '../../builders/gateway.ts'
import { FakeUpstream } from '../../builders/upstream.ts'
import { ANSWERS, send } from './answers.ts'
import { CALLERS, type Called, echoOf, echoOfStream } from './callers.ts'
import type { Step, Talk } from './script.ts'

// biome-ignore lint/suspicious/noExplicitAny: wire values, looked into by hand
type Loose = any

export const UPSTREAMS: readonly string[] = Object.keys(ANSWERS)
const FORMAT_OF: { readonly [upstream: string]: string } = {
  ...{ 'chat-r': 'chat', vertex: 'contents', 'messages-b': 'messages', 'responses-b': 'responses' },
  ...{ 'contents-b': 'contents', 'converse-b': 'converse', 'interactions-b': 'interactions' },
}
export const formatOf = (upstream: string): string => FORMAT_OF[upstream] ?? upstream
const DIALECTS: { readonly [upstream: string]: Loose } = {
  'chat-r': { reasoning_field: 'reasoning_content' },
  converse: { thinking: 'both', cache_points: false },
  messages: { system_turns: false },
  'cohere-chat': { thinks: true },
  'messages-b': { system_turns: false },
  responses: { stateless: true },
  'responses-b': { stateless: true },
  vertex: { vertex: true, result_media: false },
  'converse-b': { thinking: 'both', cache_points: false },
  interactions: { stateless: true },
  'interactions-b': { stateless: true },
}

export interface Heard {
  readonly upstream: string
  readonly body: Loose
  readonly url: string
}

/** Record of one step: the request, the answer and what the upstream got. */
export interface Scene {
  readonly step: Step
  readonly number: number
  readonly sent: Loose
  readonly heard: Heard | undefined
  readonly status: number
  readonly headers: Loose
  readonly answered: string
  readonly echoed: readonly Loose[]
  readonly calls: readonly Called[]
  readonly edited: boolean
}

/** Number of conversations that one theatre can hold at once. Each has a name of its own for the models. */
export const LANES = 3

/** Returns the name of an upstream's model in a lane, as its server knows it. */
const modelIn = (lane: number): string => `m${lane}`

/** A gateway with an upstream of each format. */
export class Theatre {
  private readonly upstreams: FakeUpstream[]
  private readonly gateway: TestServer
  private readonly lanes: { step: Step; number: number; heard?: Heard }[] = []

  private constructor(upstreams: FakeUpstream[], gateway: TestServer) {
    this.upstreams = upstreams
    this.gateway = gateway
  }

  static async open(options: TestServerOptions = {}): Promise<Theatre> {
    const upstreams = await Promise.all(UPSTREAMS.map(() => FakeUpstream.open(() => {})))
    const channels = UPSTREAMS.map((name, at) => ({
      ...channelAt(upstreams[at]!.address, { format: formatOf(name), dialect: DIALECTS[name] ?? {} }),
      ...{ name, models: { named: namesOf(name), patterns: [] } },
    }))
    const theatre = new Theatre(upstreams, await TestServer.open(channels, options))
    for (const [at, upstream] of upstreams.entries()) theatre.plays(UPSTREAMS[at]!, upstream)
    return theatre
  }

  private plays(name: string, upstream: FakeUpstream): void {
    upstream.script = (response, { text, url }) => {
      const body = parseExactly(text)
      const lane = this.lanes[Number(/m(\d)/.exec((body as Loose).model ?? url)![1])]!
      lane.heard = { upstream: name, body, url }
      const { step, number } = lane
      send(response, name, ANSWERS[name]!(step.answer, toolsIn(body), number), step.stream)
    }
  }

  /**
   * Holds a conversation of a program. Ends it where the gateway refuses.
   *
   * @param lane number of the conversation among those that are held at once.
   */
  async hold(caller: string, talk: Talk, lane = 0): Promise<readonly Scene[]> {
    const format = CALLERS[caller]!
    const scenes: Scene[] = []
    let history: readonly Loose[] = []
    let calls: readonly Called[] = []
    for (const [number, step] of talk.steps.entries()) {
      const before = history
      if (step.edit === 'drops-reasoning') history = history.flatMap(item => format.unthinking(item))
      const isReversed = step.reversed && calls.every(({ id }) => id !== undefined)
      const asks = isReversed
        ? format.asks([...calls].reverse(), { ...step, results: [...step.results].reverse() })
        : format.asks(calls, step)
      history = [...history, ...asks]
      if (step.edit === 'drops-oldest') {
        const starts = history.flatMap((item, at) => (format.begins(item) ? [at] : []))
        if (starts.length > 1) history = history.slice(starts[1])
      }
      const edited = before.some((item, at) => history[at] !== item)
      const model = `${step.upstream}-${lane}`
      const sent = format.body(history, talk, model, step.stream)
      const playing: (typeof this.lanes)[number] = { step, number }
      this.lanes[lane] = playing
      const got = await this.ask(format.path(model, step.stream), sent)
      const base = { step, number, sent, heard: playing.heard, edited, ...got }
      if (got.status !== 200) {
        scenes.push({ ...base, echoed: [], calls: [] })
        return scenes
      }
      const echoed = step.stream
        ? echoOfStream(caller, eventsIn(caller, got.bytes))
        : echoOf(caller, parseExactly(got.answered))
      calls = format.calls(echoed)
      history = [...history, ...format.told(echoed)]
      scenes.push({ ...base, echoed, calls })
    }
    return scenes
  }

  private async ask(path: string, body: Loose) {
    const text = JSON.stringify(body)
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      const out = request(`${this.gateway.server.address}${path}`, {
        method: 'POST',
        agent: false,
        headers: {
          authorization: `Bearer ${KEY}`,
          'content-length': Buffer.byteLength(text),
          'content-type': 'application/json',
          'anthropic-version': '2023-06-01',
        },
      })
      out.on('response', resolve).on('error', reject)
      out.end(text)
    })
    const chunks: Buffer[] = []
    for await (const chunk of answer) chunks.push(chunk as Buffer)
    const bytes = Buffer.concat(chunks)
    return { status: answer.statusCode!, headers: answer.headers, bytes, answered: bytes.toString() }
  }

  async close(): Promise<void> {
    await this.gateway.server.close(0)
    for (const upstream of this.upstreams) await upstream.close()
  }
}

const namesOf = (upstream: string): Map<string, string> =>
  new Map(Array.from({ length: LANES }, (_, lane) => [`${upstream}-${lane}`, modelIn(lane)]))

/** Names of the tools that a request offers, in any format. */
const toolsIn = ({ tools = [], toolConfig }: Loose): readonly string[] =>
  [...tools, ...(toolConfig?.tools ?? [])].flatMap((tool: Loose) =>
    tool.functionDeclarations !== undefined
      ? tool.functionDeclarations.map(({ name }: Loose) => name)
      : (tool.function?.name ?? tool.toolSpec?.name ?? tool.name ?? []),
  )

function eventsIn(caller: string, bytes: Buffer): Loose[] {
  if (caller === 'converse') return framesIn(bytes).map(({ name, data }) => ({ [name]: data }))
  return bytes
    .toString()
    .split(/\r?\n\r?\n/)
    .flatMap(event => {
      const data = event
        .split(/\r?\n/)
        .flatMap(line => (line.startsWith('data: ') ? [line.slice(6)] : []))
        .join('\n')
      return data === '' || data === '[DONE]' ? [] : [parseExactly(data)]
    })
}
