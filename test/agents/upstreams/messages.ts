import type { Loose } from '../../clients/scene.ts'
import { messages as format } from '../../clients/upstreams/messages.ts'
import { requestTable } from './messages-table.ts'
import { type Issued, type StrictUpstream, twice } from './strict.ts'

/* Anthropic's messages format as two families of Claude take it. */

/** Requirements of a family of models (platform.claude.com: adaptive thinking, extended thinking; 2026-11). */
interface Family {
  /**
   * Whether the model itself decides how long it thinks, and takes neither budgets, sampling parameters nor a prefilled
   * turn.
   */
  readonly adaptive: boolean
}

const blocksOf = ({ content }: Loose): Loose[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : content
const calls = (turn: Loose): string[] => blocksOf(turn).flatMap(({ type, id }) => (type === 'tool_use' ? id : []))

/** Merges consecutive turns of one role. System turns may come in between. */
function turnsOf(messages: readonly Loose[]): Loose[] {
  const turns: Loose[] = []
  for (const turn of messages.filter(({ role }) => role !== 'system')) {
    const last = turns.at(-1)
    if (last?.role === turn.role) last.content = [...last.content, ...blocksOf(turn)]
    else turns.push({ role: turn.role, content: [...blocksOf(turn)] })
  }
  return turns
}

/** Checks that every call is answered at the start of the next turn, and that every answered call exists. */
function* callFaults(turns: readonly Loose[]): Generator<string> {
  const ids = turns.flatMap(calls)
  if (twice(ids) !== undefined) yield `messages: \`tool_use\` ids must be unique: ${twice(ids)}`
  for (const [index, turn] of turns.entries()) {
    const wanted = index === 0 || turn.role === 'assistant' ? [] : calls(turns[index - 1])
    const given = turn.content.flatMap(({ type, tool_use_id }: Loose) => (type === 'tool_result' ? tool_use_id : []))
    const stray = given.find((id: string) => !wanted.includes(id))
    if (stray !== undefined) yield `messages.${index}: unexpected \`tool_use_id\` in \`tool_result\`: ${stray}`
    const missing = wanted.filter(id => !given.includes(id))
    if (missing.length > 0) yield `messages.${index}: \`tool_use\` without \`tool_result\` right after: ${missing}`
    if (turn.content.slice(0, given.length).some(({ type }: Loose) => type !== 'tool_result'))
      yield `messages.${index}: \`tool_result\` blocks have to come first`
  }
  if (calls(turns.at(-1)).length > 0) yield 'messages: the last turn has calls that nobody answered'
}

/** Checks that reasoning is returned unchanged, before everything else in its turn. */
function* thoughtFaults({ thinking }: Loose, turns: readonly Loose[], issued: readonly Issued[]): Generator<string> {
  for (const [index, { content }] of turns.entries()) {
    for (const block of content) {
      if (block.type !== 'thinking') continue
      const source = issued.find(({ proof }) => proof === block.signature)
      if (source === undefined) yield `messages.${index}: Invalid \`signature\` in \`thinking\` block`
      else if (source.thought !== block.thinking) yield `messages.${index}: \`thinking\` blocks cannot be modified`
    }
    const called = calls({ content })[0]
    const isLast = index >= turns.length - 2
    if (thinking?.type === 'enabled' && isLast && called !== undefined && content[0].type !== 'thinking')
      yield `messages.${index}: Expected \`thinking\`, but found \`${content[0].type}\``
  }
}

function* settingFaults(body: Loose, { adaptive }: Family): Generator<string> {
  const { thinking, tools = [], tool_choice, max_tokens, temperature, top_p, top_k } = body
  const thinks = thinking !== undefined && thinking.type !== 'disabled'
  if (thinking?.type === (adaptive ? 'enabled' : 'adaptive'))
    yield `thinking.type: "${thinking.type}" is not supported for this model`
  if (thinking?.budget_tokens >= max_tokens) yield '`max_tokens` must be greater than `thinking.budget_tokens`'
  if (thinking?.type === 'enabled' && ['any', 'tool'].includes(tool_choice?.type))
    yield 'Thinking may not be enabled when tool_choice forces tool use'
  if (adaptive && (top_k !== undefined || (temperature ?? 1) !== 1 || (top_p ?? 1) < 0.99))
    yield '`temperature`, `top_p` and `top_k` are not supported for this model'
  if (!adaptive && temperature !== undefined && top_p !== undefined)
    yield '`temperature` and `top_p` cannot both be specified for this model'
  if (!adaptive && thinks && ((temperature ?? 1) !== 1 || top_k !== undefined || (top_p ?? 1) < 0.95))
    yield '`temperature` may only be set to 1 when thinking is enabled'
  if (!adaptive && body.output_config?.effort !== undefined) yield 'This model does not support the effort parameter'
  if (tool_choice !== undefined && tools.length === 0)
    yield '`tool_choice` may only be specified while providing `tools`'
  const names = tools.map(({ name }: Loose) => name)
  if (twice(names) !== undefined) yield `tools: Tool names must be unique: ${twice(names)}`
  for (const block of body.messages.flatMap(blocksOf))
    if (block.type === 'tool_use' && !names.includes(block.name))
      yield `messages: a call of ${block.name}, which is no tool`
  const marks = JSON.stringify({ ...body, messages: body.messages.map(blocksOf) }).match(/"cache_control":\{/g) ?? []
  if (marks.length > 4) yield `A maximum of 4 blocks with cache_control may be provided. Found ${marks.length}.`
}

function* faults(body: Loose, issued: readonly Issued[], family: Family): Generator<string> {
  const turns = turnsOf(body.messages)
  if (turns[0]?.role !== 'user') yield 'messages: first message must use the "user" role'
  yield* callFaults(turns)
  yield* thoughtFaults(body, turns, issued)
  yield* settingFaults(body, family)
  const thinks = body.thinking !== undefined && body.thinking.type !== 'disabled'
  if (turns.at(-1).role === 'assistant' && (family.adaptive || thinks))
    yield 'This model does not support assistant message prefill. The conversation must end with a user message.'
}

/**
 * Answer to requests for threads. Tool runners of the SDKs request threads first, and send the whole history if there
 * are none.
 */
const NO_THREADS = {
  type: 'error',
  error: {
    type: 'invalid_request_error',
    message: 'thread: this request cannot be served as a thread',
    details: { error_code: 'thread_unsupported_request' },
  },
  request_id: 'req_up',
}

const upstream = (name: string, model: string, family: Family): StrictUpstream => ({
  ...{ name, model, formatName: 'messages', format, provider: 'anthropic', basePath: '' },
  path: /^\/v1\/messages(\?beta=true)?$/,
  counts: { path: /^\/v1\/messages\/count_tokens/, answer: { input_tokens: 100 } },
  table: requestTable,
  declines: body => (body['thread'] === undefined ? undefined : NO_THREADS),
  faults: (body, issued) => faults(body, issued, family),
  tools: ({ tools = [] }) => tools.map(({ name: tool }: Loose) => ({ name: tool })),
  parallel: ({ tool_choice }) => tool_choice?.disable_parallel_tool_use !== true,
  thought: ({ thinking }, thought) => {
    if (thinking === undefined || thinking.type === 'disabled') return undefined
    // Adaptive families omit the text unless it is requested. The others show it unless it is turned off.
    return (thinking.display ?? (family.adaptive ? 'omitted' : 'summarized')) === 'omitted' ? '' : thought
  },
  proofs: ({ messages }) =>
    messages.flatMap(blocksOf).flatMap(({ type, signature }: Loose) => (type === 'thinking' ? signature : [])),
  callId: n => `toolu_01${String(n).padStart(22, 'M')}`,
  remembers: true,
})

export const messages = upstream('messages', 'claude-opus-4-8', { adaptive: true })
export const messagesBudget = upstream('messages-budget', 'claude-sonnet-4-5', { adaptive: false })
