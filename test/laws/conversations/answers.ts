import type { ServerResponse } from 'node:http'
import { converseFrame } from '../../builders/frames.ts'
import type { Answer, Said } from './script.ts'

/* Answers as the servers of each format write them, whole and as streams. They use no code of the gateway. */

// biome-ignore lint/suspicious/noExplicitAny: wire values, written by hand
export type Loose = any

export interface Wire {
  readonly whole: Loose
  readonly frames: readonly (string | Buffer)[]
}

/** @param names the tools as the upstream knows them. */
export type WriteAnswer = (answer: Answer, names: readonly string[], number: number) => Wire

/** Returns a text in two pieces, with its mark in one of them. */
function halves(text: string): string[] {
  const { index = 0, 0: mark } = /[A-Z][a-z]+\d{3}/.exec(text)!
  const cut = index > 0 ? index : mark.length
  return [text.slice(0, cut), text.slice(cut)].filter(half => half !== '')
}
const sse = (event: Loose, name?: string): string =>
  `${name === undefined ? '' : `event: ${name}\n`}data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`
const textsOf = (said: readonly Said[]): string => said.flatMap(one => (one.type === 'text' ? [one.text] : [])).join('')
const thoughtsOf = (said: readonly Said[]): string =>
  said.flatMap(one => (one.type === 'thought' ? [one.text] : [])).join('')
const callsOf = (said: readonly Said[]) => said.filter(one => one.type === 'call')
const argsOf = ({ mark }: { mark: string }) => ({ q: mark, deep: { n: [1, null, 'ü'] } })

const chat =
  (field?: string): WriteAnswer =>
  ({ said, end }, names, number) => {
    const calls = callsOf(said).map(one => ({
      ...{ id: one.id, type: 'function' },
      function: { name: names[one.tool % names.length], arguments: JSON.stringify(argsOf(one)) },
    }))
    const [text, thought] = [textsOf(said), thoughtsOf(said)]
    const refusal = end === 'refused' && text !== ''
    const finish_reason = calls.length > 0 ? 'tool_calls' : end === 'length' ? 'length' : 'stop'
    const message = {
      role: 'assistant',
      content: (text === '' && calls.length > 0) || refusal ? null : text,
      refusal: refusal ? text : null,
      ...(field === undefined || thought === '' ? {} : { [field]: thought }),
      ...(calls.length === 0 ? {} : { tool_calls: calls }),
    }
    const usage = { prompt_tokens: 9, completion_tokens: 5, total_tokens: 14 }
    const head = { id: `chatcmpl-${number}`, created: 1, model: 'm' }
    const chunk = (delta: Loose, end: string | null = null): string =>
      sse({ ...head, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: end }] })
    return {
      whole: {
        ...head,
        object: 'chat.completion',
        choices: [{ index: 0, message, finish_reason, logprobs: null }],
        usage,
      },
      frames: [
        chunk({ role: 'assistant', content: '' }),
        ...(field === undefined || thought === '' ? [] : halves(thought).map(half => chunk({ [field]: half }))),
        ...(text === '' ? [] : halves(text).map(half => chunk({ [refusal ? 'refusal' : 'content']: half }))),
        ...calls.flatMap(({ function: { name, arguments: given }, ...call }, index) => [
          chunk({ tool_calls: [{ index, ...call, function: { name, arguments: '' } }] }),
          ...halves(given).map(half => chunk({ tool_calls: [{ index, function: { arguments: half } }] })),
        ]),
        chunk({}, finish_reason),
        sse({ ...head, object: 'chat.completion.chunk', choices: [], usage }),
        sse('[DONE]'),
      ],
    }
  }

const messages: WriteAnswer = ({ said, end }, names, number) => {
  const blocks = said.map((one): Loose => {
    if (one.type === 'text') return { type: 'text', text: one.text }
    if (one.type === 'call')
      return { type: 'tool_use', id: one.id, name: names[one.tool % names.length], input: argsOf(one) }
    if (one.hidden) return { type: 'redacted_thinking', data: one.proof }
    return { type: 'thinking', thinking: one.text, signature: one.proof }
  })
  const stop_reason =
    callsOf(said).length > 0 ? 'tool_use' : end === 'length' ? 'max_tokens' : end === 'refused' ? 'refusal' : 'end_turn'
  const head = { id: `msg_${number}`, type: 'message', role: 'assistant', model: 'm', stop_sequence: null }
  const usage = { input_tokens: 9, output_tokens: 5 }
  const event = (value: Loose): string => sse(value, value.type)
  const deltas = (block: Loose): Loose[] => {
    if (block.type === 'text') return halves(block.text).map(text => ({ type: 'text_delta', text }))
    if (block.type === 'tool_use')
      return halves(JSON.stringify(block.input)).map(partial_json => ({ type: 'input_json_delta', partial_json }))
    if (block.type === 'redacted_thinking') return []
    return [
      ...halves(block.thinking).map(thinking => ({ type: 'thinking_delta', thinking })),
      { type: 'signature_delta', signature: block.signature },
    ]
  }
  const start: Loose = {
    text: { text: '' },
    tool_use: { input: {} },
    thinking: { thinking: '', signature: '' },
    redacted_thinking: {},
  }
  return {
    whole: { ...head, content: blocks, stop_reason, usage },
    frames: [
      event({
        type: 'message_start',
        message: { ...head, content: [], stop_reason: null, usage: { input_tokens: 9, output_tokens: 1 } },
      }),
      ...blocks.flatMap((block, index) => [
        event({ type: 'content_block_start', index, content_block: { ...block, ...start[block.type] } }),
        ...deltas(block).map(delta => event({ type: 'content_block_delta', index, delta })),
        event({ type: 'content_block_stop', index }),
      ]),
      event({ type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage }),
      event({ type: 'message_stop' }),
    ],
  }
}

const responses: WriteAnswer = ({ said, end }, names, number) => {
  const items = said.map((one, at): Loose => {
    if (one.type === 'text') {
      const part =
        end === 'refused'
          ? { type: 'refusal', refusal: one.text }
          : { type: 'output_text', text: one.text, annotations: [], logprobs: [] }
      return { type: 'message', id: `msg_${number}x${at}`, role: 'assistant', status: 'completed', content: [part] }
    }
    if (one.type === 'call')
      return {
        ...{ type: 'function_call', id: `fc_${number}x${at}`, call_id: one.id, name: names[one.tool % names.length] },
        ...{ status: 'completed', arguments: JSON.stringify(argsOf(one)) },
      }
    return {
      ...{ type: 'reasoning', id: `rs_${number}x${at}`, encrypted_content: one.proof },
      summary: [{ type: 'summary_text', text: one.text }],
    }
  })
  const incomplete = end === 'length'
  const head = (status: string, output: Loose[]): Loose => ({
    ...{
      id: `resp_${number}`,
      object: 'response',
      created_at: 1,
      status,
      error: null,
      instructions: null,
      metadata: {},
    },
    incomplete_details: incomplete && status !== 'in_progress' ? { reason: 'max_output_tokens' } : null,
    ...{ model: 'm', output, parallel_tool_calls: true, temperature: 1, top_p: 1, tool_choice: 'auto', tools: [] },
    usage:
      status === 'in_progress'
        ? null
        : {
            input_tokens: 9,
            output_tokens: 5,
            total_tokens: 14,
            input_tokens_details: { cached_tokens: 0 },
            output_tokens_details: { reasoning_tokens: 0 },
          },
  })
  const status = incomplete ? 'incomplete' : 'completed'
  const begun: Loose = {
    reasoning: { summary: [] },
    message: { status: 'in_progress', content: [] },
    function_call: { status: 'in_progress', arguments: '' },
  }
  const inside = (item: Loose, output_index: number): Loose[] => {
    const at = { item_id: item.id, output_index }
    if (item.type === 'reasoning') {
      const { text } = item.summary[0]
      const place = { ...at, summary_index: 0 }
      return [
        { type: 'response.reasoning_summary_part.added', ...place, part: { type: 'summary_text', text: '' } },
        ...halves(text).map(delta => ({ type: 'response.reasoning_summary_text.delta', ...place, delta })),
        { type: 'response.reasoning_summary_text.done', ...place, text },
        { type: 'response.reasoning_summary_part.done', ...place, part: { type: 'summary_text', text } },
      ]
    }
    if (item.type === 'function_call')
      return [
        ...halves(item.arguments).map(delta => ({ type: 'response.function_call_arguments.delta', ...at, delta })),
        { type: 'response.function_call_arguments.done', ...at, arguments: item.arguments },
      ]
    const [part] = item.content
    const place = { ...at, content_index: 0 }
    const [kind, field] = part.type === 'refusal' ? ['refusal', 'refusal'] : ['output_text', 'text']
    return [
      { type: 'response.content_part.added', ...place, part: { ...part, [field!]: '' } },
      ...halves(part[field!]).map(delta => ({ type: `response.${kind}.delta`, ...place, delta })),
      { type: `response.${kind}.done`, ...place, [field!]: part[field!] },
      { type: 'response.content_part.done', ...place, part },
    ]
  }
  const events = [
    { type: 'response.created', response: head('in_progress', []) },
    ...items.flatMap((item, output_index) => [
      { type: 'response.output_item.added', output_index, item: { ...item, ...begun[item.type] } },
      ...inside(item, output_index),
      { type: 'response.output_item.done', output_index, item },
    ]),
    { type: `response.${status}`, response: head(status, items) },
  ]
  return {
    whole: head(status, items),
    frames: events.map((event, sequence_number) => sse({ ...event, sequence_number }, event.type)),
  }
}

const contents: WriteAnswer = ({ said, end }, names, number) => {
  let proof: string | undefined
  const parts: Loose[] = []
  for (const one of said) {
    const signed: Loose = proof === undefined ? {} : { thoughtSignature: proof }
    if (one.type === 'thought') {
      parts.push({ text: one.text, thought: true })
      proof = one.proof
      continue
    }
    proof = undefined
    if (one.type === 'text') parts.push({ text: one.text, ...signed })
    else
      parts.push({
        functionCall: {
          ...(one.id === '' ? {} : { id: one.id }),
          name: names[one.tool % names.length],
          args: argsOf(one),
        },
        ...signed,
      })
  }
  if (proof !== undefined) parts.push({ text: '', thoughtSignature: proof })
  const finishReason = end === 'length' ? 'MAX_TOKENS' : end === 'refused' ? 'SAFETY' : 'STOP'
  const head = {
    modelVersion: 'm',
    responseId: `r${number}`,
    usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 5, totalTokenCount: 14 },
  }
  const body = (list: readonly Loose[] | undefined, finish?: string): Loose => ({
    candidates: [
      {
        ...(list === undefined ? {} : { content: { role: 'model', parts: list } }),
        index: 0,
        ...(finish === undefined ? {} : { finishReason: finish }),
      },
    ],
    ...head,
  })
  const cut = (part: Loose): Loose[] =>
    part.text === undefined || part.text === ''
      ? [part]
      : halves(part.text).map((text, at) => ({ ...part, text, ...(at === 0 ? {} : { thoughtSignature: undefined }) }))
  const pieces = parts.flatMap(cut)
  return {
    whole: body(parts.length === 0 ? undefined : parts, finishReason),
    frames: [
      ...pieces.slice(0, -1).map(part => sse(body([part])).replace(/\n/g, '\r\n')),
      sse(body(pieces.length === 0 ? undefined : pieces.slice(-1), finishReason)),
    ],
  }
}

const converse: WriteAnswer = ({ said, end }, names) => {
  const content = said.map((one): Loose => {
    if (one.type === 'text') return { text: one.text }
    if (one.type === 'call')
      return { toolUse: { toolUseId: one.id, name: names[one.tool % names.length], input: argsOf(one) } }
    if (one.hidden) return { reasoningContent: { redactedContent: one.proof } }
    return { reasoningContent: { reasoningText: { text: one.text, signature: one.proof } } }
  })
  const stopReason =
    callsOf(said).length > 0
      ? 'tool_use'
      : end === 'length'
        ? 'max_tokens'
        : end === 'refused'
          ? 'guardrail_intervened'
          : 'end_turn'
  const late = { usage: { inputTokens: 9, outputTokens: 5, totalTokens: 14 }, metrics: { latencyMs: 5 } }
  const deltas = (block: Loose): Loose[] => {
    if (block.text !== undefined) return halves(block.text).map(text => ({ text }))
    if (block.toolUse !== undefined)
      return halves(JSON.stringify(block.toolUse.input)).map(input => ({ toolUse: { input } }))
    const { reasoningText, redactedContent } = block.reasoningContent
    if (redactedContent !== undefined) return [{ reasoningContent: { redactedContent } }]
    return [...halves(reasoningText.text).map(text => ({ text })), { signature: reasoningText.signature }].map(one => ({
      reasoningContent: one,
    }))
  }
  return {
    whole: { output: { message: { role: 'assistant', content } }, stopReason, ...late },
    frames: [
      converseFrame('messageStart', { role: 'assistant' }),
      ...content.flatMap((block, contentBlockIndex) => [
        ...(block.toolUse === undefined
          ? []
          : [
              converseFrame('contentBlockStart', {
                contentBlockIndex,
                start: { toolUse: { toolUseId: block.toolUse.toolUseId, name: block.toolUse.name } },
              }),
            ]),
        ...deltas(block).map(delta => converseFrame('contentBlockDelta', { contentBlockIndex, delta })),
        converseFrame('contentBlockStop', { contentBlockIndex }),
      ]),
      converseFrame('messageStop', { stopReason }),
      converseFrame('metadata', late),
    ],
  }
}

const cohere: WriteAnswer = ({ said, end }, names, number) => {
  const calls = callsOf(said).map(one => ({
    id: one.id,
    type: 'function',
    function: { name: names[one.tool % names.length], arguments: JSON.stringify(argsOf(one)) },
  }))
  const [text, thought] = [textsOf(said), thoughtsOf(said)]
  const plan = calls.length > 0 ? text : ''
  const content = [
    ...(thought === '' ? [] : [{ type: 'thinking', thinking: thought }]),
    ...(text === '' || plan !== '' ? [] : [{ type: 'text', text }]),
  ]
  const finish_reason = calls.length > 0 ? 'TOOL_CALL' : end === 'length' ? 'MAX_TOKENS' : 'COMPLETE'
  const usage = { billed_units: { input_tokens: 9, output_tokens: 5 }, tokens: { input_tokens: 9, output_tokens: 5 } }
  const event = (type: string, fields: Loose): string => sse({ type, ...fields }, type)
  const of = (message: Loose) => ({ delta: { message } })
  return {
    whole: {
      ...{ id: `c${number}`, finish_reason, usage },
      message: {
        role: 'assistant',
        ...(content.length === 0 ? {} : { content }),
        ...(plan === '' ? {} : { tool_plan: plan }),
        ...(calls.length === 0 ? {} : { tool_calls: calls }),
      },
    },
    frames: [
      event('message-start', {
        id: `c${number}`,
        ...of({ role: 'assistant', content: [], tool_plan: '', tool_calls: [], citations: [] }),
      }),
      ...content.flatMap(({ type, ...block }: Loose, index) => [
        event('content-start', { index, ...of({ content: { type, [type]: '' } }) }),
        ...halves(block[type]).map(half => event('content-delta', { index, ...of({ content: { [type]: half } }) })),
        event('content-end', { index }),
      ]),
      ...(plan === '' ? [] : halves(plan).map(half => event('tool-plan-delta', of({ tool_plan: half })))),
      ...calls.flatMap(({ function: { name, arguments: given }, ...call }, index) => [
        event('tool-call-start', { index, ...of({ tool_calls: { ...call, function: { name, arguments: '' } } }) }),
        ...halves(given).map(half =>
          event('tool-call-delta', { index, ...of({ tool_calls: { function: { arguments: half } } }) }),
        ),
        event('tool-call-end', { index }),
      ]),
      event('message-end', { delta: { finish_reason, usage } }),
    ],
  }
}

const interactions: WriteAnswer = ({ said, end }, names, number) => {
  const steps = said.map((one): Loose => {
    if (one.type === 'text') return { type: 'model_output', content: [{ type: 'text', text: one.text }] }
    if (one.type === 'call')
      return { type: 'function_call', id: one.id, name: names[one.tool % names.length], arguments: argsOf(one) }
    return { type: 'thought', signature: one.proof, summary: [{ type: 'text', text: one.text }] }
  })
  const status = callsOf(said).length > 0 ? 'requires_action' : end === 'length' ? 'incomplete' : 'completed'
  const head = { id: `v1_${number}`, object: 'interaction', model: 'm' }
  const usage = { total_input_tokens: 9, total_output_tokens: 5, total_tokens: 14 }
  const event = (value: Loose): string => sse(value, value.event_type)
  const streamed = (step: Loose): [Loose, Loose[]] => {
    if (step.type === 'model_output')
      return [{ type: step.type }, halves(step.content[0].text).map(text => ({ type: 'text', text }))]
    if (step.type === 'function_call')
      return [
        { ...step, arguments: {} },
        halves(JSON.stringify(step.arguments)).map(half => ({ type: 'arguments_delta', arguments: half })),
      ]
    return [
      { type: step.type },
      [
        ...halves(step.summary[0].text).map(text => ({ type: 'thought_summary', content: { type: 'text', text } })),
        { type: 'thought_signature', signature: step.signature },
      ],
    ]
  }
  return {
    whole: { ...head, status, usage, steps },
    frames: [
      event({ event_type: 'interaction.created', interaction: { ...head, status: 'in_progress' } }),
      ...steps.flatMap((step, index) => {
        const [start, deltas] = streamed(step)
        return [
          { event_type: 'step.start', index, step: start },
          ...deltas.map(delta => ({ event_type: 'step.delta', index, delta })),
          { event_type: 'step.stop', index },
        ].map(event)
      }),
      event({ event_type: 'interaction.completed', interaction: { ...head, status, usage } }),
      'event: done\ndata: [DONE]\n\n',
    ],
  }
}

export const ANSWERS: { readonly [upstream: string]: WriteAnswer } = {
  ...{
    chat: chat(),
    'chat-r': chat('reasoning_content'),
    messages,
    'messages-b': messages,
    responses,
    'responses-b': responses,
    contents,
    'contents-b': contents,
    vertex: contents,
    converse,
    'converse-b': converse,
    interactions,
    'interactions-b': interactions,
  },
  'cohere-chat': cohere,
}

export function send(response: ServerResponse, upstream: string, wire: Wire, stream: boolean): void {
  if (!stream) {
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(wire.whole))
    return
  }
  const type = upstream.startsWith('converse') ? 'application/vnd.amazon.eventstream' : 'text/event-stream'
  response.writeHead(200, { 'content-type': type })
  for (const frame of wire.frames) response.write(frame)
  response.end()
}
