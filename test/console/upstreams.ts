import type { ServerResponse } from 'node:http'
import { channelWithDefaults } from '../../src/config/channel.ts'
import type { FaultAt } from '../../src/config/faults.ts'
import type { ChannelConfig, Config, ModelFacts } from '../../src/config/index.ts'
import { withKeyPool } from '../../src/config/key-pool.ts'
import { PRESETS } from '../../src/formats/index.ts'
import { ANSWER, failure, json } from '../builders/chat.ts'
import { deadAddress, FakeUpstream, type Script } from '../builders/upstream.ts'
import { type ConsoleGateway, openConsoleGateway } from './gateway.ts'

type Written = Parameters<typeof channelWithDefaults>[0]

/** A channel's config and the script of its upstream. Without a script, nothing listens at its address. */
export interface Row extends Omit<Written, 'provider'> {
  readonly provider?: string
  readonly script?: Script
  readonly maxConcurrent?: number
}

const RESPONSE = {
  ...{ id: 'resp_1', object: 'response', created_at: 1_700_000_000, status: 'completed', model: 'm' },
  output: [
    {
      ...{ id: 'msg_1', type: 'message', role: 'assistant', status: 'completed' },
      content: [{ type: 'output_text', text: 'Hello.', annotations: [] }],
    },
  ],
  usage: { input_tokens: 5, output_tokens: 2, total_tokens: 7 },
}

const MESSAGE = {
  ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'm', stop_reason: 'max_tokens', stop_sequence: null },
  content: [{ type: 'text', text: 'Hello.' }],
  usage: { input_tokens: 5, output_tokens: 2 },
}

const CONTENTS = {
  candidates: [{ content: { role: 'model', parts: [{ text: 'Hello.' }] }, finishReason: 'STOP', index: 0 }],
  usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 2, totalTokenCount: 7 },
}

const ANSWERS: readonly (readonly [path: RegExp, body: object])[] = [
  [/chat\/completions$/, ANSWER],
  [/responses$/, RESPONSE],
  [/messages$/, MESSAGE],
  [/:generateContent/, CONTENTS],
  [
    /embeddings$/,
    { object: 'list', data: [{ object: 'embedding', index: 0, embedding: [0.1] }], usage: { prompt_tokens: 1 } },
  ],
]

/** Answers a request in any of the common formats. */
export const answers: Script = (response, { url }) => {
  const found = ANSWERS.find(([path]) => path.test(url.split('?')[0]!))
  if (found === undefined) json(response, failure('There is nothing here.'), 404)
  else json(response, found[1])
}

/** Lists these models and answers requests. */
export const lists =
  (...ids: readonly string[]): Script =>
  (response, seen) => {
    if (/models$/.test(seen.url.split('?')[0]!)) json(response, { object: 'list', data: ids.map(id => ({ id })) })
    else answers(response, seen)
  }

/** Fails with a status and a message. */
export const fails =
  (status: number, message: string, headers = {}): Script =>
  response =>
    json(response, failure(message), status, headers)

/** Response of an overloaded proxy. */
export const garbage: Script = (response: ServerResponse) =>
  response.writeHead(200, { 'content-type': 'text/html' }).end('<html><h1>502 Bad Gateway</h1></html>')

export const silence: Script = () => {}

/** A gateway with scripted upstreams. A test can replace each script. */
export async function openBefore(
  rows: readonly Row[],
  { models = [], ...config }: Omit<Partial<Config>, 'models'> & { readonly models?: readonly ModelFacts[] } = {},
): Promise<ConsoleGateway & { readonly upstreams: ReadonlyMap<string, FakeUpstream> }> {
  const upstreams = new Map<string, FakeUpstream>()
  const channels: ChannelConfig[] = []
  for (const { script, maxConcurrent, provider = 'openai', ...written } of rows) {
    const upstream = script && (await FakeUpstream.open(script))
    if (upstream) upstreams.set(written.name, upstream)
    const given = { provider, base_url: upstream?.address ?? (await deadAddress()), ...written }
    const row = written.keys === undefined ? { key: 'upstream-key-1234', ...given } : given
    const faults: string[] = []
    const fault: FaultAt = (path, message) => void faults.push(`${path.join('.')} ${message}`)
    const complete = withKeyPool(channelWithDefaults(row, PRESETS.get(provider)!, {}, fault), row, fault)
    if (faults.length > 0) throw new Error(faults.join('\n'))
    const timeout = { ...complete.timeout, connect: 10_000, firstByte: 3000, whole: 3000 }
    channels.push({ ...complete, timeout, ...(maxConcurrent === undefined ? {} : { maxConcurrent }) })
  }
  const gateway = await openConsoleGateway({ ...config, channels, models: new Map(models.map(one => [one.id, one])) })
  return {
    ...gateway,
    upstreams,
    close: async () => {
      await gateway.close()
      for (const upstream of upstreams.values()) await upstream.close()
    },
  }
}
