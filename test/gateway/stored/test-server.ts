import { mkdtempSync, rmSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import OpenAI from 'openai'
import { type JsonObject, parseObject } from '../../../src/canonical/node.ts'
import type { ChannelConfig, Config } from '../../../src/config/index.ts'
import { channelAt, KEY, keyOf, OTHER_KEY } from '../../builders/config.ts'
import { TestServer } from '../../builders/gateway.ts'
import { FakeUpstream, type Seen } from '../../builders/upstream.ts'
import type { Loose, Scene } from '../../clients/scene.ts'
import { writeFrame } from '../../clients/stage.ts'
import { UPSTREAMS } from '../../clients/upstreams/index.ts'

/** A directory that is deleted after the test. */
export function scratch(): { readonly path: string; drop(): void } {
  const path = mkdtempSync(join(tmpdir(), 'interlingua-'))
  return { path, drop: () => rmSync(path, { recursive: true, force: true }) }
}

export const KEYS: Config['keys'] = [keyOf(KEY, 'dev'), keyOf(OTHER_KEY, 'other')]

/** The parsed body of a request to an upstream. */
export const bodyOf = ({ text }: Seen): Loose => parseObject(text)

/** An upstream of one format that answers with the given scenes in order, each under its own id. */
export class Speaker {
  readonly upstream: FakeUpstream
  readonly format: string
  scenes: Scene[] = []
  /** If set, holds every answer back until the promise resolves. */
  gate: Promise<void> | undefined
  private count = 0
  private readonly name: string

  private constructor(upstream: FakeUpstream, format: string, name: string) {
    this.upstream = upstream
    this.format = format
    this.name = name
  }

  static async open(format: string, name = format): Promise<Speaker> {
    const upstream = await FakeUpstream.open(() => {})
    const speaker = new Speaker(upstream, format, name)
    upstream.script = (response, seen) => speaker.answer(response, seen)
    return speaker
  }

  channel(fields: Partial<ChannelConfig> = {}, dialect: JsonObject = {}): ChannelConfig {
    const channel = channelAt(this.upstream.address, { format: this.format })
    const formats = channel.formats.map(one => ({ ...one, dialect: { ...one.dialect, ...dialect } }))
    return { ...channel, name: this.name, formats, ...fields }
  }

  get bodies(): Loose[] {
    return this.upstream.seen.filter(({ text }) => text !== '').map(bodyOf)
  }

  /** Requests without a body, which concern stored responses. */
  get asides(): string[] {
    return this.upstream.seen.filter(({ text }) => text === '').map(({ method, url }) => `${method} ${url}`)
  }

  /** The request at an index as the upstream understood it. A negative index counts from the end. */
  heard(index = -1) {
    return UPSTREAMS[this.format]!.hear(this.bodies.at(index))
  }

  private async answer(response: ServerResponse, seen: Seen): Promise<void> {
    const wire = UPSTREAMS[this.format]!
    if (seen.text === '') {
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
      return
    }
    const scene = this.scenes.shift() ?? { text: 'Well.' }
    const mark = `${this.name}_${this.count++}`
    const own = (text: string): string =>
      text.replaceAll('resp_up', `resp_${mark}`).replaceAll(/"(msg|rs)_1"/g, `"$1_${mark}"`)
    const body = bodyOf(seen)
    if (!wire.streams(seen.url, body)) {
      await this.gate
      const echo = this.format === 'responses' ? { previous_response_id: body.previous_response_id ?? null } : {}
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(own(JSON.stringify({ ...wire.whole(scene), ...echo })))
      return
    }
    const frames = wire.frames(scene).map(own)
    for (const [index, frame] of frames.entries()) {
      if (index === frames.length - 2) await this.gate
      writeFrame(response, wire, frame)
    }
    response.end()
  }
}

/** A gateway that stores responses, with several upstreams. */
export class StoringGateway {
  readonly speakers: readonly Speaker[]
  readonly testServer: TestServer
  private readonly data: { readonly path: string; drop(): void } | undefined

  private constructor(testServer: TestServer, speakers: readonly Speaker[], data: StoringGateway['data']) {
    this.testServer = testServer
    this.speakers = speakers
    this.data = data
  }

  static async open(
    speakers: readonly Speaker[],
    config: Partial<Config> = {},
    channels = speakers.map(speaker => speaker.channel()),
  ): Promise<StoringGateway> {
    const data = config.dataDir === undefined ? scratch() : undefined
    const keep = data?.path ?? config.dataDir!
    const testServer = await TestServer.open(channels, { keep, config: { keys: KEYS, ...config } })
    return new StoringGateway(testServer, speakers, data)
  }

  client(key = KEY): OpenAI {
    return new OpenAI({ baseURL: `${this.testServer.server.address}/v1`, apiKey: key, maxRetries: 0 })
  }

  /** The faults in the log, including outages of the store. */
  get faults(): readonly unknown[] {
    const isOutage = (message: string) => message === 'the store cannot be used'
    return this.testServer.lines.filter(({ level, message }) => level === 'error' || isOutage(message))
  }

  async close(): Promise<void> {
    await this.testServer.server.close(0)
    await Promise.all(this.speakers.map(({ upstream }) => upstream.close()))
    this.data?.drop()
  }
}
