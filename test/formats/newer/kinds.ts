import type { JsonObject } from '../../../src/canonical/node.ts'
import { type Declarations, declarationsIn } from './declarations.ts'
import { type Probe, probeAnswer, probeEvent, probeRequest } from './probes.ts'
import {
  BLOCKS,
  CITATIONS,
  CONTENTS_TOOLS,
  GROUNDING,
  ITEMS,
  MESSAGES_TOOLS,
  PARTS,
  RESPONSES_TOOLS,
} from './samples.ts'

/* The kinds of content, events and fields in the types of the publishers' SDKs, with a probe of each. */

interface Kinds {
  readonly title: string
  readonly names: readonly string[]
  readonly probe: Probe
}

const ANTHROPIC = 'node_modules/@anthropic-ai/sdk/resources/'
const OPENAI = 'node_modules/openai/resources/'

const anthropic = declarationsIn(`${ANTHROPIC}messages/messages.d.ts`, `${ANTHROPIC}beta/messages/messages.d.ts`)
const openai = declarationsIn(`${OPENAI}responses/responses.d.ts`, `${OPENAI}shared.d.ts`)
const openaiBeta = declarationsIn(`${OPENAI}beta/responses/responses.d.ts`, `${OPENAI}responses/responses.d.ts`)
const completions = declarationsIn(`${OPENAI}chat/completions/completions.d.ts`)
const google = declarationsIn('node_modules/@google/genai/dist/genai.d.ts')

const types = (from: Declarations, ...names: readonly string[]) => merged(names.map(from.typesOf))
const fields = (from: Declarations, ...names: readonly string[]) => merged(names.map(from.fieldsOf))
const merged = (lists: readonly (readonly string[])[]) => [...new Set(lists.flat())].sort()

/** A value that no field expects. */
const ODD = { x_probe: 1 }

const sample = (samples: { readonly [kind: string]: JsonObject }, type: string): JsonObject => ({
  type,
  ...(samples[type] ?? ODD),
})

const USER = { role: 'user', content: 'Hello' }
const messages = { model: 'm', max_tokens: 9, messages: [USER] }
const responses = { model: 'm', input: 'Hello' }
const chat = { model: 'm', messages: [USER] }
const contents = { contents: [{ role: 'user', parts: [{ text: 'Hello' }] }] }

const message = {
  ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'm' },
  ...{ content: [], stop_reason: 'end_turn', stop_sequence: null },
  usage: { input_tokens: 1, output_tokens: 1 },
}
const response = { id: 'resp_1', object: 'response', created_at: 1, model: 'm', status: 'completed', output: [] }
const assistant = { role: 'assistant', content: 'Hi' }
const completion = {
  ...{ id: 'c', object: 'chat.completion', created: 1, model: 'm' },
  choices: [{ index: 0, message: assistant, finish_reason: 'stop', logprobs: null }],
}
const candidate = { content: { role: 'model', parts: [{ text: 'Hi' }] }, finishReason: 'STOP', index: 0 }

/** The kinds of a title. */
export const namesOf = (title: string): readonly string[] => KINDS.find(one => one.title === title)!.names

export const KINDS: readonly Kinds[] = [
  {
    title: 'messages: parameters',
    names: fields(anthropic, 'MessageCreateParamsBase'),
    probe: name => probeRequest('messages', { ...messages, [name]: ODD }),
  },
  {
    title: 'messages: blocks of a turn',
    names: types(anthropic, 'ContentBlockParam', 'BetaContentBlockParam'),
    probe: type =>
      probeRequest('messages', {
        ...messages,
        messages: [USER, { role: 'assistant', content: [sample(BLOCKS, type)] }],
      }),
  },
  {
    title: 'messages: tools',
    names: types(anthropic, 'ToolUnion', 'BetaToolUnion'),
    probe: type => probeRequest('messages', { ...messages, tools: [sample(MESSAGES_TOOLS, type)] }),
  },
  {
    title: 'messages: fields of an answer',
    names: fields(anthropic, 'Message', 'BetaMessage'),
    probe: name => probeAnswer('messages', { ...message, ...(name in message ? {} : { [name]: ODD }) }),
  },
  {
    title: 'messages: blocks of an answer',
    names: types(anthropic, 'ContentBlock', 'BetaContentBlock'),
    probe: type => probeAnswer('messages', { ...message, content: [sample(BLOCKS, type)] }),
  },
  {
    title: 'messages: citations of an answer',
    names: types(anthropic, 'TextCitation', 'BetaTextCitation'),
    probe: type =>
      probeAnswer('messages', {
        ...message,
        content: [{ type: 'text', text: 'Hi', citations: [sample(CITATIONS, type)] }],
      }),
  },
  {
    title: 'messages: events',
    names: types(anthropic, 'RawMessageStreamEvent', 'BetaRawMessageStreamEvent'),
    probe: type => probeEvent('messages', { type, ...ODD }),
  },
  {
    title: 'messages: deltas of a block',
    names: types(anthropic, 'RawContentBlockDelta', 'BetaRawContentBlockDelta'),
    probe: type => probeEvent('messages', { type: 'content_block_delta', index: 0, delta: { type, ...ODD } }),
  },
  {
    title: 'responses: parameters',
    names: merged([
      openai.fieldsOf('ResponseCreateParamsBase'),
      openaiBeta.fieldsOf('ResponseCreateParamsBase').filter(name => name !== 'betas'),
    ]),
    probe: name => probeRequest('responses', { ...responses, [name]: ODD }),
  },
  {
    title: 'responses: items of a history',
    names: merged([types(openai, 'ResponseInputItem'), types(openaiBeta, 'BetaResponseInputItem')]),
    probe: type => probeRequest('responses', { ...responses, input: [USER, sample(ITEMS, type)] }),
  },
  {
    title: 'responses: tools',
    names: merged([types(openai, 'Tool'), types(openaiBeta, 'BetaTool')]),
    probe: type => probeRequest('responses', { ...responses, tools: [sample(RESPONSES_TOOLS, type)] }),
  },
  {
    title: 'responses: fields of an answer',
    names: merged([openai.fieldsOf('Response'), openaiBeta.fieldsOf('BetaResponse')]),
    probe: name => probeAnswer('responses', { ...response, ...(name in response ? {} : { [name]: ODD }) }),
  },
  {
    title: 'responses: items of an answer',
    names: merged([types(openai, 'ResponseOutputItem'), types(openaiBeta, 'BetaResponseOutputItem')]),
    probe: type => probeAnswer('responses', { ...response, output: [{ id: 'it_1', ...sample(ITEMS, type) }] }),
  },
  {
    title: 'responses: events',
    names: merged([
      types(openai, 'ResponseStreamEvent'),
      types(openaiBeta, 'BetaResponseStreamEvent', 'BetaResponsesServerEvent'),
    ]),
    probe: type => probeEvent('responses', { type, ...ODD }),
  },
  {
    title: 'chat: parameters',
    names: fields(completions, 'ChatCompletionCreateParamsBase'),
    probe: name => probeRequest('chat', { ...chat, [name]: ODD }),
  },
  {
    title: 'chat: fields of an answer',
    names: fields(completions, 'ChatCompletion'),
    probe: name => probeAnswer('chat', { ...completion, ...(name in completion ? {} : { [name]: ODD }) }),
  },
  {
    title: 'chat: fields of a message',
    names: fields(completions, 'ChatCompletionMessage'),
    probe: name => {
      const given = { ...assistant, ...(name in assistant ? {} : { [name]: ODD }) }
      return probeAnswer('chat', { ...completion, choices: [{ ...completion.choices[0]!, message: given }] })
    },
  },
  {
    title: 'contents: fields of a part',
    names: fields(google, 'Part'),
    probe: name => probeRequest('contents', { contents: [{ role: 'user', parts: [{ [name]: PARTS[name] ?? ODD }] }] }),
  },
  {
    title: 'contents: tools',
    names: fields(google, 'Tool'),
    probe: name => probeRequest('contents', { ...contents, tools: [{ [name]: CONTENTS_TOOLS[name] ?? ODD }] }),
  },
  {
    title: 'contents: settings of generation',
    names: fields(google, 'GenerationConfig'),
    probe: name => probeRequest('contents', { ...contents, generationConfig: { [name]: ODD } }),
  },
  {
    title: 'contents: fields of a candidate',
    names: fields(google, 'Candidate'),
    probe: name =>
      probeAnswer('contents', { candidates: [{ ...candidate, ...(name in candidate ? {} : { [name]: ODD }) }] }),
  },
  {
    title: 'contents: grounding metadata',
    names: fields(google, 'GroundingMetadata'),
    probe: name =>
      probeAnswer('contents', {
        candidates: [{ ...candidate, groundingMetadata: { [name]: GROUNDING[name] ?? [ODD] } }],
      }),
  },
]
