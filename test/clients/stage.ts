import type { ServerResponse } from 'node:http'
import { type JsonObject, parseObject } from '../../src/canonical/node.ts'
import type { ChannelConfig } from '../../src/config/index.ts'
import { channelAt, KEY, type TestServerOptions } from '../builders/config.ts'
import { TestServer } from '../builders/gateway.ts'
import { FakeUpstream, type Seen } from '../builders/upstream.ts'
import { formatsWith } from '../laws/support.ts'
import type { TestServer as Address } from './caller.ts'
import { type HeardRequest, type Scene, SSE, type UpstreamFormat } from './scene.ts'
import { UPSTREAMS } from './upstreams/index.ts'

/** Formats with requests and answers, whole and streamed. */
export const FORMATS = formatsWith('events').filter(format => UPSTREAMS[format] !== undefined)

/** Upstream of one format behind a separate gateway. */
export class Stage {
  readonly format: UpstreamFormat
  readonly testServer: TestServer
  private readonly upstream: FakeUpstream
  private scenes: Scene[] = []

  private constructor(format: UpstreamFormat, testServer: TestServer, upstream: FakeUpstream) {
    this.format = format
    this.testServer = testServer
    this.upstream = upstream
  }

  static async open(
    name: string,
    fields: Partial<ChannelConfig> = {},
    options: TestServerOptions = {},
  ): Promise<Stage> {
    const upstream = await FakeUpstream.open(() => {})
    const testServer = await TestServer.open(
      [{ ...channelAt(upstream.address, { format: name, dialect: UPSTREAMS[name]!.dialect ?? {} }), ...fields }],
      {
        body: 64 * 1024,
        ...options,
      },
    )
    return new Stage(UPSTREAMS[name]!, testServer, upstream)
  }

  /** Sets the next answers of the upstream, one per request. */
  plays(...scenes: Scene[]): void {
    this.upstream.seen.length = 0
    this.scenes = scenes
    this.upstream.script = (response, seen) => this.answer(response, seen, this.scenes.shift()!)
  }

  /** Sets the behaviour of the upstream from now on. */
  does(script: (response: ServerResponse, seen: Seen) => unknown): void {
    this.upstream.seen.length = 0
    this.upstream.script = script
  }

  fails(status: number, message: string, headers: { readonly [name: string]: string } = {}): void {
    const text = JSON.stringify(this.format.error(status, message))
    this.does(response => response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(text))
  }

  get seen(): readonly Seen[] {
    return this.upstream.seen
  }

  /** Returns the request with this index as the upstream understood it. */
  heard(index = 0): HeardRequest {
    return this.format.hear(bodyOf(this.upstream.seen[index]!))
  }

  get address(): Address {
    return { address: this.testServer.server.address, key: KEY }
  }

  async close(): Promise<void> {
    await this.testServer.server.close(0)
    await this.upstream.close()
  }

  private answer(response: ServerResponse, seen: Seen, scene: Scene): void {
    if (!this.format.streams(seen.url, bodyOf(seen))) {
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(this.format.whole(scene)))
      return
    }
    for (const frame of this.format.frames(scene)) writeFrame(response, this.format, frame)
    response.end()
  }
}

/** Writes an event of a streamed answer, whose head is sent with the first one. */
export function writeFrame(response: ServerResponse, { stream = SSE }: UpstreamFormat, frame: string): void {
  if (!response.headersSent) response.writeHead(200, { 'content-type': stream.contentType })
  response.write(frame, stream.encoding)
}

export const bodyOf = ({ text }: Seen): JsonObject => parseObject(text)!
