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

/** Returns the data of events that are JSON. */
export const dataOf = (events: readonly WireEvent[]): Loose[] =>
  events.flatMap(({ data }) => (data === '[DONE]' ? [] : [JSON.parse(data)]))

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
    return blocks.map(({ json, ...block }) => (json === undefined ? block : { ...block, input: JSON.parse(json) }))
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
