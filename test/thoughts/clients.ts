import { isObject, type Json, type JsonObject } from '../../src/canonical/node.ts'
import type { WireRequest } from '../../src/canonical/wire.ts'
import { wireRequest } from '../builders/requests.ts'

/** How a client changes an answer before sending it back. */
export type Habit =
  /** Sends everything back unchanged, as a provider's own client does. */
  | 'keeps'
  /** Drops reasoning and signatures. */
  | 'drops'
  /** Drops reasoning, signatures and the ids of tool calls. */
  | 'drops-ids'

type Loose = { [field: string]: Json }

/** A hand-written client of one format: turns an answer into part of the next request. */
interface Client {
  /** The first request of a conversation. */
  first(question: string): WireRequest
  /** The next request: appends the answer and its tool results. */
  next(before: WireRequest, answer: JsonObject, habit: Habit): WireRequest
}

const listOf = (value: Json | undefined): Loose[] => (Array.isArray(value) ? (value as Loose[]) : [])
const without = (object: Loose, ...fields: string[]): Loose =>
  Object.fromEntries(Object.entries(object).filter(([field]) => !fields.includes(field)))

const TOOL = { name: 'get_time', description: 'The time of a zone.' }
const SCHEMA = { type: 'object', properties: { zone: { type: 'string' } } }

const chat: Client = {
  first: question =>
    wireRequest('/v1/chat/completions', {
      model: 'm',
      messages: [{ role: 'user', content: question }],
      tools: [{ type: 'function', function: { ...TOOL, parameters: SCHEMA } }],
    }),
  next: ({ path, body }, answer, habit) => {
    const message = listOf(answer['choices'])[0]!['message'] as Loose
    const calls = listOf(message['tool_calls']).map(call =>
      habit === 'keeps' ? call : without(call, 'extra_content', 'index'),
    )
    const said = habit === 'keeps' ? message : without(message, 'reasoning_content', 'reasoning', 'refusal')
    const content =
      habit !== 'keeps' && Array.isArray(said['content'])
        ? listOf(said['content'])
            .map(piece => piece['text'] ?? '')
            .join('')
        : (said['content'] ?? null)
    const results = calls.map(call => ({ role: 'tool', tool_call_id: call['id']!, content: 'noon' }))
    const messages = [...listOf(body['messages']), { ...said, content, tool_calls: calls }, ...results]
    return wireRequest(path, { ...body, messages })
  },
}

const messages: Client = {
  first: question =>
    wireRequest('/v1/messages', {
      model: 'm',
      max_tokens: 4096,
      thinking: { type: 'enabled', budget_tokens: 2048 },
      messages: [{ role: 'user', content: question }],
      tools: [{ ...TOOL, input_schema: SCHEMA }],
    }),
  next: ({ path, body }, answer, habit) => {
    const blocks = listOf(answer['content'])
    const content = habit === 'keeps' ? blocks : blocks.filter(({ type }) => !String(type).includes('thinking'))
    const results = content
      .filter(({ type }) => type === 'tool_use')
      .map(({ id }) => ({ type: 'tool_result', tool_use_id: id!, content: 'noon' }))
    const turns = [
      { role: 'assistant', content },
      { role: 'user', content: results },
    ]
    return wireRequest(path, { ...body, messages: [...listOf(body['messages']), ...turns] })
  },
}

const responses: Client = {
  first: question =>
    wireRequest('/v1/responses', {
      model: 'm',
      store: false,
      include: ['reasoning.encrypted_content'],
      input: [{ type: 'message', role: 'user', content: question }],
      tools: [{ type: 'function', ...TOOL, parameters: SCHEMA, strict: false }],
    }),
  next: ({ path, body }, answer, habit) => {
    const output = listOf(answer['output'])
    const items = habit === 'keeps' ? output : output.filter(({ type }) => type !== 'reasoning')
    const results = items
      .filter(({ type }) => type === 'function_call')
      .map(item => ({ type: 'function_call_output', call_id: item['call_id']!, output: 'noon' }))
    return wireRequest(path, { ...body, input: [...listOf(body['input']), ...items, ...results] })
  },
}

const contents: Client = {
  first: question =>
    wireRequest('/v1beta/models/m:generateContent', {
      contents: [{ role: 'user', parts: [{ text: question }] }],
      tools: [{ functionDeclarations: [{ ...TOOL, parametersJsonSchema: SCHEMA }] }],
    }),
  next: ({ path, body }, answer, habit) => {
    const content = listOf(answer['candidates'])[0]!['content'] as Loose
    const parts = listOf(content['parts']).flatMap((part): Loose[] => {
      if (habit === 'keeps') return [part]
      if (part['thought'] === true) return []
      const bare = without(part, 'thoughtSignature')
      if (isObject(bare['functionCall']) && habit === 'drops-ids')
        return [{ functionCall: without(bare['functionCall'] as Loose, 'id') }]
      return Object.keys(bare).length === 0 || bare['text'] === '' ? [] : [bare]
    })
    const results = parts.flatMap(({ functionCall }) =>
      isObject(functionCall)
        ? [{ functionResponse: { ...without(functionCall as Loose, 'args'), response: { result: 'noon' } } }]
        : [],
    )
    const turns = [
      { role: 'model', parts },
      { role: 'user', parts: results },
    ]
    return wireRequest(path, { ...body, contents: [...listOf(body['contents']), ...turns] })
  },
}

const converse: Client = {
  first: question =>
    wireRequest('/model/m/converse', {
      messages: [{ role: 'user', content: [{ text: question }] }],
      additionalModelRequestFields: { thinking: { type: 'enabled', budget_tokens: 2048 } },
      toolConfig: { tools: [{ toolSpec: { ...TOOL, inputSchema: { json: SCHEMA } } }] },
    }),
  next: ({ path, body }, answer, habit) => {
    const message = (answer['output'] as Loose)['message'] as Loose
    const blocks = listOf(message['content'])
    const content = habit === 'keeps' ? blocks : blocks.filter(block => block['reasoningContent'] === undefined)
    const results = content.flatMap(({ toolUse }) =>
      isObject(toolUse) ? [{ toolResult: { toolUseId: toolUse['toolUseId']!, content: [{ text: 'noon' }] } }] : [],
    )
    const turns = [
      { role: 'assistant', content },
      { role: 'user', content: results },
    ]
    return wireRequest(path, { ...body, messages: [...listOf(body['messages']), ...turns] })
  },
}

const cohereChat: Client = {
  first: question =>
    wireRequest('/v2/chat', {
      model: 'm',
      messages: [{ role: 'user', content: question }],
      tools: [{ type: 'function', function: { ...TOOL, parameters: SCHEMA } }],
    }),
  next: ({ path, body }, answer, habit) => {
    const message = answer['message'] as Loose
    const blocks = listOf(message['content']).filter(({ type }) => habit === 'keeps' || type !== 'thinking')
    const results = listOf(message['tool_calls']).map(call => ({
      role: 'tool',
      tool_call_id: call['id']!,
      content: 'noon',
    }))
    const said = { ...message, ...(message['content'] === undefined ? {} : { content: blocks }) }
    return wireRequest(path, { ...body, messages: [...listOf(body['messages']), said, ...results] })
  },
}

const interactions: Client = {
  first: question =>
    wireRequest('/v1beta/interactions', {
      model: 'm',
      store: false,
      input: [{ type: 'user_input', content: [{ type: 'text', text: question }] }],
      generation_config: { thinking_summaries: 'auto' },
      tools: [{ type: 'function', ...TOOL, parameters: SCHEMA }],
    }),
  next: ({ path, body }, answer, habit) => {
    const said = listOf(answer['steps'])
    const steps =
      habit === 'keeps' ? said : said.filter(({ type }) => type !== 'thought').map(step => without(step, 'signature'))
    const results = steps
      .filter(({ type }) => type === 'function_call')
      .map(({ id, name }) => ({ type: 'function_result', call_id: id!, name: name!, result: 'noon' }))
    return wireRequest(path, { ...body, input: [...listOf(body['input']), ...steps, ...results] })
  },
}

export const CLIENTS: { readonly [format: string]: Client } = {
  ...{ chat, messages, responses, contents, converse, interactions },
  'cohere-chat': cohereChat,
}
