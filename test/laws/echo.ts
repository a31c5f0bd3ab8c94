import { parseCallData, parseExactly } from '../../src/canonical/exact-numbers.ts'
import type { JsonObject } from '../../src/canonical/node.ts'
import type { WireEvent } from '../../src/canonical/wire.ts'

/* Puts an answer of the gateway into the next request's history, as the official SDK of its format does. */

// biome-ignore lint/suspicious/noExplicitAny: wire values, put together by hand as the SDKs do
type Loose = any

export interface Echo {
  /** Returns the part of a whole answer that becomes history. */
  whole(answer: Loose): readonly JsonObject[]
  /** Returns the part of a stream that becomes history. */
  streamed(events: readonly Loose[]): readonly JsonObject[]
  /** Builds a request with a question, the answer, the results of all calls, and a last user text. */
  request(echoed: readonly JsonObject[]): JsonObject
}

/** Returns the data of events that are JSON, with every digit of large integers, as clients in other languages have it. */
export const dataOf = (events: readonly WireEvent[]): Loose[] =>
  events.flatMap(({ data }) => (data === '[DONE]' ? [] : [parseExactly(data)]))

const QUESTION = 'A question.'
const WORD = 'Go on.'

const chat: Echo = {
  whole: ({ choices: [choice] }) => [choice.message],
  streamed: events => {
    const message: Loose = { role: 'assistant', content: null }
    const grow = (into: Loose, from: Loose): void => {
      for (const [key, value] of Object.entries(from)) {
        if (key === 'tool_calls')
          for (const { index, ...call } of value as Loose[]) {
            into.tool_calls ??= []
            grow((into.tool_calls[index] ??= {}), call)
          }
        else if (typeof value === 'object' && value !== null && !Array.isArray(value)) grow((into[key] ??= {}), value)
        else if (typeof value === 'string' && !FIXED.has(key)) into[key] = (into[key] ?? '') + value
        else if (value !== null) into[key] = value
      }
    }
    for (const { choices } of events) for (const { index, delta } of choices) if (index === 0) grow(message, delta)
    return [message]
  },
  request: ([answer]) => ({
    model: 'm',
    messages: [
      { role: 'user', content: QUESTION },
      answer!,
      ...((answer as Loose).tool_calls ?? []).map(({ id }: Loose) => ({
        role: 'tool',
        tool_call_id: id,
        content: 'ok',
      })),
      { role: 'user', content: WORD },
    ],
  }),
}
const FIXED: ReadonlySet<string> = new Set(['role', 'id', 'type', 'name'])

const isCall = ({ type }: Loose): boolean => type === 'function_call' || type === 'custom_tool_call'

const responses: Echo = {
  whole: ({ output }) => output,
  streamed: events => events.findLast(({ response }) => response !== undefined)?.response.output ?? [],
  request: items => ({
    model: 'm',
    input: [
      { role: 'user', content: QUESTION },
      ...items,
      ...items.filter(isCall).map(({ type, call_id }: Loose) => ({ type: `${type}_output`, call_id, output: 'ok' })),
      { role: 'user', content: WORD },
    ],
  }),
}

const messages: Echo = {
  whole: ({ content }) => content,
  streamed: events => {
    const blocks: Loose[] = []
    for (const { type, index, content_block, delta } of events) {
      if (type === 'content_block_start') blocks[index] = structuredClone(content_block)
      if (type !== 'content_block_delta') continue
      const block = blocks[index]
      if (delta.type === 'input_json_delta') block.json = (block.json ?? '') + delta.partial_json
      else if (delta.type === 'citations_delta') block.citations = [...(block.citations ?? []), delta.citation]
      else
        for (const field of ['text', 'thinking', 'signature'])
          if (delta[field] !== undefined) block[field] = (block[field] ?? '') + delta[field]
    }
    return blocks.map(({ json, ...block }) => (json === undefined ? block : { ...block, input: parseCallData(json) }))
  },
  request: content => ({
    model: 'm',
    max_tokens: 100,
    messages: [
      { role: 'user', content: QUESTION },
      ...(content.length === 0 ? [] : [{ role: 'assistant', content }]),
      {
        role: 'user',
        content: [
          ...content
            .filter(({ type }) => type === 'tool_use')
            .map(({ id }: Loose) => ({ type: 'tool_result', tool_use_id: id, content: 'ok' })),
          { type: 'text', text: WORD },
        ],
      },
    ],
  }),
}

const contents: Echo = {
  whole: ({ candidates: [candidate] }) => (candidate?.content === undefined ? [] : [candidate.content]),
  // Google's chats store the content of each event as a separate turn.
  streamed: events => events.flatMap(({ candidates = [] }) => candidates[0]?.content ?? []),
  request: turns => {
    const results = turns
      .flatMap(({ parts }: Loose) => parts ?? [])
      .flatMap(({ functionCall: call }: Loose) =>
        call === undefined ? [] : [{ functionResponse: { id: call.id, name: call.name, response: { result: 'ok' } } }],
      )
    return {
      contents: [
        { role: 'user', parts: [{ text: QUESTION }] },
        ...turns,
        ...(results.length === 0 ? [] : [{ role: 'user', parts: results }]),
        { role: 'user', parts: [{ text: WORD }] },
      ],
    }
  },
}

export const ECHOES: { readonly [format: string]: Echo } = { chat, contents, messages, responses }

const converse: Echo = {
  whole: ({ output }) => output.message.content,
  streamed: events => {
    const blocks: Loose[] = []
    for (const { contentBlockStart: begun, contentBlockDelta: grown } of events) {
      if (begun !== undefined) blocks[begun.contentBlockIndex] = { toolUse: { ...begun.start.toolUse, input: '' } }
      if (grown === undefined) continue
      const { text, toolUse, reasoningContent } = grown.delta
      const block = (blocks[grown.contentBlockIndex] ??= {})
      if (text !== undefined) block.text = (block.text ?? '') + text
      if (toolUse !== undefined) block.toolUse.input += toolUse.input
      for (const [field, value] of Object.entries<string>(reasoningContent ?? {})) {
        const into = (block.reasoningContent ??= {})
        if (field === 'redactedContent') into[field] = (into[field] ?? '') + value
        else
          into.reasoningText = { text: '', ...into.reasoningText, [field]: (into.reasoningText?.[field] ?? '') + value }
      }
    }
    return blocks.map(({ toolUse, ...block }) =>
      toolUse === undefined ? block : { toolUse: { ...toolUse, input: parseCallData(toolUse.input || '{}') } },
    )
  },
  request: content => ({
    messages: [
      { role: 'user', content: [{ text: QUESTION }] },
      ...(content.length === 0 ? [] : [{ role: 'assistant', content }]),
      {
        role: 'user',
        content: [
          ...content.flatMap(({ toolUse }: Loose) =>
            toolUse === undefined ? [] : [{ toolResult: { toolUseId: toolUse.toolUseId, content: [{ text: 'ok' }] } }],
          ),
          { text: WORD },
        ],
      },
    ],
  }),
}

const cohere: Echo = {
  whole: ({ message }) => [message],
  streamed: events => {
    const content: Loose[] = []
    const calls: Loose[] = []
    let plan = ''
    for (const { type, index, delta } of events) {
      const said = delta?.message ?? {}
      if (type === 'content-start') content[index] = { ...said.content }
      if (type === 'content-delta')
        for (const [field, value] of Object.entries<string>(said.content)) content[index][field] += value
      if (type === 'tool-plan-delta') plan += said.tool_plan
      if (type === 'tool-call-start') calls[index] = structuredClone(said.tool_calls)
      if (type === 'tool-call-delta') calls[index].function.arguments += said.tool_calls.function.arguments
    }
    return [
      {
        role: 'assistant',
        ...(content.length === 0 ? {} : { content }),
        ...(plan === '' ? {} : { tool_plan: plan }),
        ...(calls.length === 0 ? {} : { tool_calls: calls }),
      },
    ]
  },
  request: chat.request,
}

const interactions: Echo = {
  whole: ({ steps = [] }) => steps,
  streamed: events => {
    const steps: Loose[] = []
    for (const { event_type, index, step, delta } of events) {
      if (event_type === 'step.start') steps[index] = { ...structuredClone(step), json: '' }
      if (event_type !== 'step.delta') continue
      const into = steps[index]
      if (delta.type === 'text') append((into.content ??= []), delta)
      if (delta.type === 'thought_summary') append((into.summary ??= []), delta.content)
      if (delta.type === 'thought_signature') into.signature = (into.signature ?? '') + delta.signature
      if (delta.type === 'arguments_delta') into.json += delta.arguments
    }
    return steps.map(({ json, ...step }) => (json === '' ? step : { ...step, arguments: parseCallData(json) }))
  },
  request: steps => ({
    model: 'm',
    store: false,
    input: [
      { type: 'user_input', content: [{ type: 'text', text: QUESTION }] },
      ...steps,
      ...steps
        .filter(({ type }) => type === 'function_call')
        .map(({ id, name }: Loose) => ({ type: 'function_result', call_id: id, name, result: 'ok' })),
      { type: 'user_input', content: [{ type: 'text', text: WORD }] },
    ],
  }),
}

/** Appends a text to the last one, or adds it. */
function append(texts: Loose[], { type, text }: Loose): void {
  const last = texts.at(-1)
  if (last === undefined) texts.push({ type, text })
  else last.text += text
}

/** The same for every format of conversations. */
export const EVERY_ECHO: { readonly [format: string]: Echo } = {
  ...ECHOES,
  converse,
  'cohere-chat': cohere,
  interactions,
}

/** Returns the data of events as `streamed` takes them. Those of Converse are named outside of their data. */
export const eventsOf = (format: string, events: readonly WireEvent[]): Loose[] =>
  format === 'converse' ? events.map(({ event, data }) => ({ [event!]: JSON.parse(data) })) : dataOf(events)
