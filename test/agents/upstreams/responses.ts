import type { Loose } from '../../clients/scene.ts'
import { responses as format } from '../../clients/upstreams/responses.ts'
import { requestTable } from './responses-table.ts'
import { type Declared, type Issued, type StrictUpstream, twice } from './strict.ts'

/* OpenAI's responses format without stored state. Reasoning is returned encrypted. */

const itemsOf = ({ input }: Loose): Loose[] => (typeof input === 'string' ? [{ role: 'user', content: input }] : input)
const isCall = ({ type }: Loose): boolean => type === 'function_call' || type === 'custom_tool_call'
const isOutput = ({ type }: Loose): boolean => /_call_output$/.test(type ?? '')

/** Returns the tools of a request, wherever they are declared. Tools in namespaces one by one. */
function declaredIn(body: Loose): Declared[] {
  const added = itemsOf(body).flatMap(({ type, tools }) => (type === 'additional_tools' ? tools : []))
  return [...(body.tools ?? []), ...added].flatMap(one => {
    if (one.type === 'namespace') return one.tools.map((inner: Loose) => ({ ...declared(inner), namespace: one.name }))
    return one.name === undefined ? [] : [declared(one)]
  })
}

const declared = ({ name, type }: Loose): Declared => ({ name, custom: type === 'custom' })

const fullName = ({ namespace = '', name }: { namespace?: string; name: string }): string => `${namespace}/${name}`

function* callFaults(items: readonly Loose[]): Generator<string> {
  const calls = items.filter(isCall).map(one => one.call_id)
  const outputs = items.filter(isOutput).map(one => one.call_id)
  if (twice(calls) !== undefined) yield `input: two calls of the id ${twice(calls)}`
  for (const id of calls) if (!outputs.includes(id)) yield `No tool output found for function call ${id}.`
  for (const [index, one] of items.entries())
    if (isOutput(one) && !items.slice(0, index).some(before => isCall(before) && before.call_id === one.call_id))
      yield `No tool call found for function call output with call_id ${one.call_id}.`
}

/** Checks that every reasoning item was issued, and comes before the item that it led to. */
function* reasoningFaults({ store }: Loose, items: readonly Loose[], issued: readonly Issued[]): Generator<string> {
  for (const [index, { type, id, encrypted_content }] of items.entries()) {
    if (type !== 'reasoning') continue
    const at = `input[${index}]`
    if (encrypted_content == null) {
      if (store === false) yield `Item with id '${id}' not found: items are not persisted when \`store\` is false.`
    } else if (!issued.some(({ proof }) => proof === encrypted_content))
      yield `${at}: The encrypted content for item ${id} could not be verified.`
    const next = items[index + 1]
    // At the end it may be alone. Codex continues this way after an answer that broke off.
    const leads = next === undefined || isCall(next) || next.type === 'reasoning' || next.role === 'assistant'
    if (!leads) yield `${at}: Item '${id}' of type 'reasoning' was provided without its required following item.`
  }
}

function* toolFaults(body: Loose, items: readonly Loose[]): Generator<string> {
  const tools = declaredIn(body)
  const names = tools.map(fullName)
  if (twice(names) !== undefined) yield `tools: two tools are named ${twice(names)}`
  if (tools.length === 0 && body.tool_choice !== undefined && (body.tools ?? []).length === 0)
    yield 'Tool choice is only allowed when `tools` are specified.'
  for (const one of items.filter(isCall))
    if (!names.includes(fullName(one))) yield `input: a call of ${fullName(one)}, which is no tool of the request`
}

function* faults(body: Loose, issued: readonly Issued[]): Generator<string> {
  const items = itemsOf(body)
  const ids = items.flatMap(({ id = [] }) => id)
  if (twice(ids) !== undefined) yield `input: Duplicate item found with id ${twice(ids)}.`
  yield* callFaults(items)
  yield* reasoningFaults(body, items, issued)
  yield* toolFaults(body, items)
}

const encrypts = ({ include = [], store }: Loose): boolean =>
  include.includes('reasoning.encrypted_content') && store === false

export const responses: StrictUpstream = {
  ...{ name: 'responses', formatName: 'responses', format, provider: 'openai', model: 'gpt-5.6', basePath: '/v1' },
  path: /^\/v1\/responses$/,
  counts: { path: /^\/v1\/responses\/input_tokens$/, answer: { object: 'response.input_tokens', input_tokens: 100 } },
  table: requestTable,
  faults,
  tools: declaredIn,
  parallel: ({ parallel_tool_calls }) => parallel_tool_calls !== false,
  thought: (body, thought) => {
    if (body.reasoning?.effort === 'none' || !encrypts(body)) return undefined
    return body.reasoning?.summary == null ? '' : thought
  },
  proofs: body => itemsOf(body).flatMap(({ encrypted_content }) => encrypted_content ?? []),
  callId: n => `call_${String(n).padStart(24, 'r')}`,
  remembers: true,
}
