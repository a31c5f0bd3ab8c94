import type { JsonObject } from '../../../src/canonical/node.ts'
import {
  frame,
  type Heard,
  halves,
  joined,
  type Loose,
  outputOf,
  type Scene,
  type UpstreamFormat,
  USAGE,
} from '../scene.ts'

const HEAD = { id: 'chatcmpl-up', created: 1_700_000_000, model: 'm' }

const finish = ({ calls }: Scene): string => (calls === undefined ? 'stop' : 'tool_calls')

const usage = {
  prompt_tokens: USAGE.input,
  completion_tokens: USAGE.output,
  total_tokens: USAGE.input + USAGE.output,
  prompt_tokens_details: { cached_tokens: USAGE.cached },
  completion_tokens_details: { reasoning_tokens: USAGE.thought },
}

const callsOf = ({ calls = [] }: Scene): Loose[] =>
  calls.map(({ id, name, arguments: given, input }) =>
    input === undefined
      ? { id, type: 'function', function: { name, arguments: JSON.stringify(given) } }
      : { id, type: 'custom', custom: { name, input } },
  )

/** Returns the name and the text of a call or tool. Both are in a field named like the type. */
const saidIn = (one: Loose): Loose => one[one.type]

/** Yields the start of a call, then its chunks. */
function chunksOf(call: Loose, index: number): string[] {
  const { id, type } = call
  const said = saidIn(call)
  const field = type === 'custom' ? 'input' : 'arguments'
  return [
    chunk({ tool_calls: [{ index, id, type, [type]: { name: said.name, [field]: '' } }] }),
    ...halves(said[field]).map(half => chunk({ tool_calls: [{ index, [type]: { [field]: half } }] })),
  ]
}

const chunk = (delta: JsonObject, finish_reason: string | null = null): string =>
  frame({ ...HEAD, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason }], usage: null })

const imageOf = (url: string): string => url.replace(/^data:[^,]*,/, '')

function hearTurn(turn: JsonObject, names: Map<string, string>): Heard {
  const { role, content, tool_calls = [], tool_call_id } = turn as Loose
  const parts: Loose[] = typeof content === 'string' ? [{ type: 'text', text: content }] : (content ?? [])
  for (const call of tool_calls) names.set(call.id, saidIn(call).name)
  if (role === 'tool')
    return { role, text: '', results: [{ name: names.get(tool_call_id) ?? '?', output: outputOf(content) }] }
  return {
    role: role === 'developer' ? 'system' : role,
    text: parts.map(part => part.text ?? '').join(''),
    images: parts.filter(part => part.type === 'image_url').map(part => imageOf(part.image_url.url)),
    calls: tool_calls.map(saidIn).map(({ name, input, arguments: given }: Loose) => ({
      name,
      arguments: input ?? JSON.parse(given),
    })),
  }
}

export const chat: UpstreamFormat = {
  whole: scene => ({
    ...HEAD,
    object: 'chat.completion',
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: scene.text ?? null,
          refusal: null,
          ...(scene.thought === undefined ? {} : { reasoning_content: scene.thought }),
          ...(scene.calls === undefined ? {} : { tool_calls: callsOf(scene) }),
        },
        finish_reason: finish(scene),
      },
    ],
    usage,
  }),
  frames: scene => [
    chunk({ role: 'assistant', content: '' }),
    ...halves(scene.thought ?? '').flatMap(half => (half === '' ? [] : [chunk({ reasoning_content: half })])),
    ...halves(scene.text ?? '').flatMap(half => (half === '' ? [] : [chunk({ content: half })])),
    ...callsOf(scene).flatMap(chunksOf),
    chunk({}, finish(scene)),
    frame({ ...HEAD, object: 'chat.completion.chunk', choices: [], usage }),
    frame('[DONE]'),
  ],
  breakOff: message => frame({ error: { message, type: 'server_error', param: null, code: null } }),
  error: (status, message) => ({
    error: { message, type: status === 429 ? 'rate_limit_error' : 'invalid_request_error', param: null, code: null },
  }),
  hear: body => {
    const { messages, tools = [], response_format, reasoning_effort, max_completion_tokens, max_tokens } = body as Loose
    const names = new Map<string, string>()
    return {
      turns: joined(messages.map((turn: JsonObject) => hearTurn(turn, names))),
      tools: tools.map((tool: Loose) => saidIn(tool).name),
      schema: response_format?.json_schema?.schema,
      thinks: reasoning_effort !== undefined && reasoning_effort !== 'none',
      limit: max_completion_tokens ?? max_tokens,
    }
  },
  streams: (_, body) => body['stream'] === true,
}
