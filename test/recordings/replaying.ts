import type { ServerResponse } from 'node:http'
import { type JsonObject, parseObject } from '../../src/canonical/node.ts'
import { channelAt } from '../builders/config.ts'
import { TestServer } from '../builders/gateway.ts'
import { FakeUpstream, type Seen } from '../builders/upstream.ts'
import type { Recording } from './recording.ts'

/** Models that recorded tools name. */
const IN_TOOLS = ['~anthropic/claude-opus-latest']

/** A gateway with an upstream that answers as recorded. The requested model names the recording. */
export class Replaying {
  readonly testServer: TestServer
  private readonly upstream: FakeUpstream

  private constructor(testServer: TestServer, upstream: FakeUpstream) {
    this.testServer = testServer
    this.upstream = upstream
  }

  static async open(format: string, recordings: readonly Recording[]): Promise<Replaying> {
    const byName = new Map(recordings.map(recording => [recording.name, recording]))
    const upstream = await FakeUpstream.open((response, seen) => answer(response, byName.get(modelOf(seen))!))
    const named = new Map([...recordings.map(({ name }) => name), ...IN_TOOLS].map(name => [name, name]))
    const channel = channelAt(upstream.address, { format, models: { named, patterns: [] } })
    return new Replaying(await TestServer.open([channel]), upstream)
  }

  /** Returns the last request that the upstream received under this name. */
  seen(name: string): Seen {
    return this.upstream.seen.findLast(seen => modelOf(seen) === name)!
  }

  async close(): Promise<void> {
    await this.testServer.server.close(0)
    await this.upstream.close()
  }
}

function modelOf({ url, text }: Seen): string {
  const inPath = /models?\/([^:/]+)[:/]/.exec(url)?.[1]
  return inPath === undefined ? String(parseObject(text)?.['model']) : decodeURIComponent(inPath)
}

/** Sends the recorded bytes, cut inside events. */
async function answer(response: ServerResponse, { name, status, body, sse }: Recording): Promise<void> {
  const type = sse === undefined ? 'application/json' : 'text/event-stream'
  response.writeHead(status, { 'content-type': type })
  const bytes = Buffer.from(sse ?? JSON.stringify(body))
  const size = 61 + (name.length % 37)
  for (let at = 0; at < bytes.length; at += size) {
    response.write(bytes.subarray(at, at + size))
    if (at % 8 === 0) await new Promise(resolve => setImmediate(resolve))
  }
  response.end()
}

/** Returns the same body with another model name. */
export const renamed = (body: JsonObject, model: string): JsonObject =>
  body['model'] === undefined ? body : { ...body, model }
