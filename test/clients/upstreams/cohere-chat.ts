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

const ID = '8e2d9f6a-up'

const finish = ({ calls }: Scene): string => (calls === undefined ? 'COMPLETE' : 'TOOL_CALL')

const tokens = { input_tokens: USAGE.input, output_tokens: USAGE.output }
const usage = { billed_units: tokens, tokens, cached_tokens: USAGE.cached }

const callsOf = ({ calls = [] }: Scene): Loose[] =>
  calls.map(({ id, name, arguments: given }) => ({
    id,
    type: 'function',
    function: { name, arguments: JSON.stringify(given) },
  }))

/** Returns the content blocks of an answer. The text before calls is their plan. */
const blocksOf = ({ thought, text, calls }: Scene): Loose[] => [
  ...(thought ? [{ type: 'thinking', thinking: thought }] : []),
  ...(text !== undefined && calls === undefined ? [{ type: 'text', text }] : []),
]

const planOf = ({ text, calls }: Scene): string => (calls === undefined ? '' : (text ?? ''))

const event = (type: string, fields: JsonObject): string => frame({ type, ...fields }, type)
const said = (message: JsonObject): JsonObject => ({ delta: { message } })
const filled = (text: string): readonly string[] => halves(text).filter(half => half !== '')

const blockEvents = ({ type, ...block }: Loose, index: number): string[] => [
  event('content-start', { index, ...said({ content: { type, [type]: '' } }) }),
  ...filled(block[type]).map(half => event('content-delta', { index, ...said({ content: { [type]: half } }) })),
  event('content-end', { index }),
]

function callEvents({ id, type, function: called }: Loose, index: number): string[] {
  const start = { id, type, function: { name: called.name, arguments: '' } }
  const chunks = filled(called.arguments).map(half =>
    event('tool-call-delta', { index, ...said({ tool_calls: { function: { arguments: half } } }) }),
  )
  return [
    event('tool-call-start', { index, ...said({ tool_calls: start }) }),
    ...chunks,
    event('tool-call-end', { index }),
  ]
}

function hearTurn(turn: JsonObject, names: Map<string, string>): Heard {
  const { role, content, tool_plan = '', tool_calls = [], tool_call_id } = turn as Loose
  const parts: Loose[] = typeof content === 'string' ? [{ type: 'text', text: content }] : (content ?? [])
  for (const call of tool_calls) names.set(call.id, call.function.name)
  if (role === 'tool')
    return { role, text: '', results: [{ name: names.get(tool_call_id) ?? '?', output: outputOf(content) }] }
  return {
    role,
    text: parts.map(part => part.text ?? '').join('') + tool_plan,
    images: parts.filter(part => part.type === 'image_url').map(part => part.image_url.url.replace(/^data:[^,]*,/, '')),
    calls: tool_calls.map(({ function: called }: Loose) => ({
      name: called.name,
      arguments: JSON.parse(called.arguments),
    })),
  }
}

export const cohereChat: UpstreamFormat = {
  dialect: { thinks: true },
  whole: scene => ({
    id: ID,
    finish_reason: finish(scene),
    message: {
      role: 'assistant',
      ...(blocksOf(scene).length === 0 ? {} : { content: blocksOf(scene) }),
      ...(planOf(scene) === '' ? {} : { tool_plan: planOf(scene) }),
      ...(scene.calls === undefined ? {} : { tool_calls: callsOf(scene) }),
    },
    usage,
  }),
  frames: scene => [
    event('message-start', {
      id: ID,
      ...said({ role: 'assistant', content: [], tool_plan: '', tool_calls: [], citations: [] }),
    }),
    ...blocksOf(scene).flatMap(blockEvents),
    ...filled(planOf(scene)).map(half => event('tool-plan-delta', said({ tool_plan: half }))),
    ...callsOf(scene).flatMap(callEvents),
    event('message-end', { delta: { finish_reason: finish(scene), usage } }),
    frame('[DONE]'),
  ],
  breakOff: message => event('message-end', { delta: { finish_reason: 'ERROR', error: message } }),
  error: (_status, message) => ({ id: ID, message }),
  hear: body => {
    const { messages, tools = [], response_format, thinking, max_tokens } = body as Loose
    const names = new Map<string, string>()
    return {
      turns: joined(messages.map((turn: JsonObject) => hearTurn(turn, names))),
      tools: tools.map((tool: Loose) => tool.function.name),
      schema: response_format?.json_schema,
      thinks: thinking !== undefined && thinking.type !== 'disabled',
      limit: max_tokens,
    }
  },
  streams: (_, body) => body['stream'] === true,
}
