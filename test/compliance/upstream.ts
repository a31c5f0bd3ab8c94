import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Json, JsonObject } from '../../src/canonical/node.ts'
import { channelAt } from '../builders/config.ts'
import { type Demo, openDemo } from '../builders/demo.ts'
import { TestServer } from '../builders/gateway.ts'
import { FakeUpstream, type Seen } from '../builders/upstream.ts'
import type { Scene } from '../clients/scene.ts'
import { UPSTREAMS } from '../clients/upstreams/index.ts'

type Answer = (seen: Seen, id: string) => string | Promise<string>

/**
 * Upstreams of the format itself: a complete one, two that leave out as much as they can or send null, and the
 * fixtures.
 */
const NATIVES: { readonly [upstream: string]: Answer } = {
  responses: natively,
  'responses, incomplete': (seen, id) => laconic(natively(seen, id), undefined),
  'responses, null': (seen, id) => laconic(natively(seen, id), null),
  replay: ({ url, text }) =>
    fetch(`${replay!.url}${url}`, { method: 'POST', body: text }).then(answer => answer.text()),
}
export const isNative = (upstream: string): boolean => Object.hasOwn(NATIVES, upstream)

let replay: Demo | undefined

/** Opens a gateway with an upstream that answers sensibly. It calls an offered tool, or else answers with text. */
export async function openGateway(name: string) {
  let answers = 0
  if (name === 'replay') replay ??= await openDemo()
  const format = isNative(name) ? 'responses' : name
  const upstream = await FakeUpstream.open(async (response, seen) => {
    const id = `resp_up_${answers++}`
    const text = await (NATIVES[name]?.(seen, id) ?? translated(format, seen))
    const type = text.startsWith('{') ? 'application/json' : 'text/event-stream'
    response.writeHead(200, { 'content-type': type }).end(text)
  })
  const dataDir = mkdtempSync(join(tmpdir(), 'interlingua-compliance-'))
  const testServer = await TestServer.open([channelAt(upstream.address, { format })], { config: { dataDir } })
  const close = async (): Promise<void> => {
    await testServer.server.close(0)
    await upstream.close()
    await replay?.close()
    replay = undefined
    rmSync(dataDir, { recursive: true, force: true })
  }
  return { testServer, upstream, close }
}

function translated(format: string, { url, text }: Seen): string {
  const speaks = UPSTREAMS[format]!
  const body = JSON.parse(text) as JsonObject
  const { tools, turns } = speaks.hear(body)
  const scene: Scene =
    tools.length > 0 && turns.at(-1)?.role !== 'tool'
      ? { calls: [{ id: 'call_1', name: tools[0]!, arguments: { location: 'San Francisco' } }] }
      : { thought: 'A greeting.', text: 'Hello, how are you?' }
  return speaks.streams(url, body) ? speaks.frames(scene).join('') : JSON.stringify(speaks.whole(scene))
}

/** Returns the answer of an upstream of the format itself, as complete as the description requires. */
function natively(seen: Seen, id: string): string {
  const body = JSON.parse(seen.text) as JsonObject
  if (seen.url.endsWith('/compact')) return JSON.stringify(compacted(id))
  const heard = { ...seen, text: JSON.stringify(withoutCompacted(body)) }
  return translated('responses', heard)
    .split('\n')
    .map(line => (line.startsWith('data: ') ? `data: ${completed(line.slice(6), body, id)}` : line))
    .join('\n')
    .replace(/^\{.*$/s, whole => completed(whole, body, id))
}

const withoutCompacted = (body: JsonObject): JsonObject =>
  Array.isArray(body['input'])
    ? { ...body, input: (body['input'] as JsonObject[]).filter(({ type }) => type !== 'compaction') }
    : body

function completed(text: string, asked: JsonObject, id: string): string {
  const value = JSON.parse(text) as JsonObject
  if (value['object'] === 'response') return JSON.stringify(whole(value, asked, id))
  if (value['response'] === undefined) return text
  return JSON.stringify({ ...value, response: whole(value['response'] as JsonObject, asked, id) })
}

const DEFAULTS: JsonObject = {
  ...{ completed_at: 1_700_000_001, previous_response_id: null, truncation: 'disabled', presence_penalty: 0 },
  ...{ frequency_penalty: 0, top_logprobs: 0, max_output_tokens: null, max_tool_calls: null, store: true },
  ...{ background: false, service_tier: 'default', safety_identifier: null, prompt_cache_key: null },
  ...{ text: { format: { type: 'text' } }, reasoning: { effort: null, summary: null } },
}

function whole(response: JsonObject, asked: JsonObject, id: string): JsonObject {
  const tools = ((asked['tools'] ?? []) as JsonObject[]).map(
    tool => ({ description: null, strict: true, ...tool }) as Json,
  )
  const { store = true, previous_response_id = null } = asked
  return { ...DEFAULTS, ...response, id, tools, store, previous_response_id }
}

const compacted = (id: string): JsonObject => ({
  id,
  object: 'response.compaction',
  created_at: 1_700_000_000,
  output: [{ type: 'compaction', id: 'cmp_up', encrypted_content: 'gAAAAupstream' }],
  usage: {
    ...{ input_tokens: 9, input_tokens_details: { cached_tokens: 0 }, output_tokens: 5 },
    ...{ output_tokens_details: { reasoning_tokens: 0 }, total_tokens: 14 },
  },
})

/** Fields that some upstreams send at most. */
const SAID: ReadonlySet<string> = new Set([
  ...['type', 'role', 'content', 'text', 'summary', 'name', 'arguments', 'call_id', 'encrypted_content'],
  ...['response', 'output', 'item', 'part', 'delta', 'status', 'usage', 'input_tokens', 'output_tokens'],
])

/** Returns an answer, or its events, with every optional field removed or null. */
function laconic(answer: string, left: null | undefined): string {
  const sparse = (text: string): string =>
    JSON.stringify(JSON.parse(text, (key, value: Json) => (SAID.has(key) || /^\d*$/.test(key) ? value : left)))
  if (answer.startsWith('{')) return sparse(answer)
  return answer.replaceAll(/^data: (.*)$/gm, (_, data: string) => `data: ${sparse(data)}`)
}
