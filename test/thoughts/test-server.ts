import type { JsonObject } from '../../src/canonical/node.ts'
import type { ChannelConfig, Config } from '../../src/config/index.ts'
import { channelAt, configOf, KEY, keyOf, OTHER_KEY, type TestServerOptions } from '../builders/config.ts'
import { type Asked, TestServer } from '../builders/gateway.ts'
import { FakeUpstream, type Script } from '../builders/upstream.ts'
import type { Loose, Scene } from '../clients/scene.ts'
import { UPSTREAMS } from '../clients/upstreams/index.ts'

/** An upstream with reasoning that answers with one scene after another. */
export class Thinker {
  readonly upstream: FakeUpstream
  readonly format: string
  scenes: Scene[] = []

  private constructor(upstream: FakeUpstream, format: string) {
    this.upstream = upstream
    this.format = format
  }

  static async open(format: string): Promise<Thinker> {
    const upstream = await FakeUpstream.open(() => {})
    const thinker = new Thinker(upstream, format)
    upstream.script = thinker.answer
    return thinker
  }

  readonly answer: Script = (response, seen) => {
    const spoken = UPSTREAMS[this.format]!
    const scene = this.scenes.shift() ?? { text: 'Done.' }
    const body = JSON.parse(seen.text) as JsonObject
    if (spoken.streams(seen.url, body))
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end(spoken.frames(scene).join(''))
    else response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(spoken.whole(scene)))
  }

  channel(fields: Partial<ChannelConfig> = {}, dialect: JsonObject = {}): ChannelConfig {
    const channel = channelAt(this.upstream.address, { format: this.format })
    return { ...channel, formats: channel.formats.map(one => ({ ...one, dialect })), ...fields }
  }

  /** Returns a request that the upstream received. A negative index counts from the end. */
  body(index = -1): Loose {
    return JSON.parse(this.upstream.seen.at(index)!.text)
  }

  /** The signatures in the latest request. */
  get proofs(): readonly string[] {
    return UPSTREAMS[this.format]!.hear(this.body()).turns.flatMap(({ proofs = [] }) => proofs)
  }
}

/** Starts a gateway with reasoning upstreams and two callers. */
export class Remembering {
  readonly testServer: TestServer
  private readonly thinkers: readonly Thinker[]
  private readonly options: TestServerOptions

  private constructor(testServer: TestServer, thinkers: readonly Thinker[], options: TestServerOptions) {
    this.testServer = testServer
    this.thinkers = thinkers
    this.options = options
  }

  static async open(
    thinkers: readonly Thinker[],
    channels: readonly ChannelConfig[] = thinkers.map(one => one.channel()),
    { config = {}, ...options }: TestServerOptions = {},
  ): Promise<Remembering> {
    const keys = [keyOf(KEY, 'dev'), keyOf(OTHER_KEY, 'other')]
    const all = { ...options, config: { keys, ...config } }
    return new Remembering(await TestServer.open(channels, all), thinkers, all)
  }

  reload(channels: readonly ChannelConfig[], config: Partial<Config> = {}): void {
    this.testServer.server.reload(
      configOf(channels, { ...this.options, config: { ...this.options.config, ...config } }),
    )
  }

  chat(messages: readonly JsonObject[], { key = KEY, headers = {}, ...more }: ChatOptions = {}): Promise<Asked> {
    const body = { model: 'm', messages, tools: TOOLS, ...more }
    return this.testServer.ask('/v1/chat/completions', body, {
      headers: { authorization: `Bearer ${key}`, ...headers },
    })
  }

  async close(): Promise<void> {
    await this.testServer.server.close(0)
    await Promise.all(this.thinkers.map(({ upstream }) => upstream.close()))
  }
}

interface ChatOptions {
  readonly key?: string
  readonly headers?: { readonly [name: string]: string }
  readonly stream?: boolean
  readonly max_tokens?: number
  readonly tools?: readonly JsonObject[]
}

export const TOOLS = [
  { type: 'function', function: { name: 'get_time', parameters: { type: 'object', properties: {} } } },
]

export const CALL = { id: 'toolu_01Ab2Cd3Ef4Gh5', name: 'get_time', arguments: { zone: 'UTC' } }
export const THINKS: Scene = { thought: 'The clock knows.', calls: [CALL] }

export const ASKED = { role: 'user', content: 'What time is it?' }

/** Returns a history with tool calls, as a client that drops reasoning sends it. */
export const history = (...calls: readonly (typeof CALL)[]): readonly JsonObject[] => [
  ASKED,
  {
    role: 'assistant',
    content: null,
    tool_calls: calls.map(({ id, name, arguments: said }) => ({
      ...{ id, type: 'function', function: { name, arguments: JSON.stringify(said) } },
    })),
  },
  ...calls.map(({ id }) => ({ role: 'tool', tool_call_id: id, content: 'noon' })),
]
