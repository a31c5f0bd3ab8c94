import { EVERY_ECHO } from '../echo.ts'
import type { File, Step, Talk } from './script.ts'

/* Programs of each format that keep their history as the format's SDK does. */

// biome-ignore lint/suspicious/noExplicitAny: wire values, put together by hand as programs do
type Loose = any

export interface Called {
  readonly id: string
  readonly name: string
  readonly args: Loose
}

export const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=='
const SCHEMA = { type: 'object', properties: { q: { type: 'string' } }, required: ['q'] }

interface Format {
  path(model: string, stream: boolean): string
  /** The field of the history, and the body around it. */
  body(history: readonly Loose[], talk: Talk, model: string, stream: boolean): Loose
  /** Puts what the model said into the history. */
  told(echoed: readonly Loose[]): readonly Loose[]
  calls(echoed: readonly Loose[]): readonly Called[]
  /** Results of calls, and what the user says behind them. */
  asks(calls: readonly Called[], step: Step): readonly Loose[]
  /** Whether an item of a history begins a question of the user. */
  begins(item: Loose): boolean
  /** Removes reasoning from an item, and the item if nothing remains. */
  unthinking(item: Loose): readonly Loose[]
}

const chatLike = (
  image: (data: string) => Loose,
  document?: (file: File) => Loose,
): Pick<Format, 'told' | 'calls' | 'asks' | 'begins' | 'unthinking'> => ({
  told: echoed => echoed,
  calls: ([message]) =>
    (message?.tool_calls ?? []).map(({ id, function: one }: Loose) => ({
      id,
      name: one.name,
      args: JSON.parse(one.arguments),
    })),
  asks: (calls, { results, user, image: shows, file }) => {
    const media = [...(shows ? [image(PNG)] : []), ...(document === undefined ? [] : withFile(file, document))]
    return [
      ...calls.map(({ id }, at) => ({ role: 'tool', tool_call_id: id, content: results[at] })),
      ...(user === undefined
        ? []
        : [{ role: 'user', content: media.length > 0 ? [{ type: 'text', text: user }, ...media] : user }]),
    ]
  },
  begins: ({ role }) => role === 'user',
  unthinking: ({ reasoning_content: _, reasoning_details: __, ...message }) =>
    Array.isArray(message.content)
      ? [{ ...message, content: message.content.filter(({ type }: Loose) => type !== 'thinking') }]
      : [message],
})
const functions = ({ tools }: Talk) =>
  tools.map(name => ({ type: 'function', function: { name, description: 'd', parameters: SCHEMA } }))
const ruled = ({ rules }: Talk, history: readonly Loose[]) => [
  ...(rules === undefined ? [] : [{ role: 'system', content: rules }]),
  ...history,
]

const blocks = (type: 'messages' | 'converse'): Pick<Format, 'told' | 'begins'> => ({
  told: content => [{ role: 'assistant', content }],
  begins: ({ role, content }) =>
    role === 'user' &&
    !content.some((block: Loose) => block.type === 'tool_result' || block.toolResult !== undefined) &&
    type !== undefined,
})

const addressOf = ({ type, data }: File): string => `data:${type};base64,${data}`
const textOf = ({ data }: File): string => Buffer.from(data, 'base64').toString()

/** Returns the list of the part that shows a file, or an empty one. Of results, only the first one shows a file. */
const withFile = (file: File | undefined, form: (file: File) => Loose, at = 0): Loose[] =>
  file === undefined || at > 0 ? [] : [form(file)]

const fileOfChat = (file: File): Loose => ({
  type: 'file',
  file: { filename: file.name, file_data: addressOf(file) },
})
const documentOfMessages = (file: File): Loose => ({
  type: 'document',
  title: file.name,
  source:
    file.type === 'text/plain'
      ? { type: 'text', media_type: file.type, data: textOf(file) }
      : { type: 'base64', media_type: file.type, data: file.data },
})
const imageOfMessages = (data: string): Loose => ({
  type: 'image',
  source: { type: 'base64', media_type: 'image/png', data },
})
const imageOfResponses = (data: string): Loose => ({
  type: 'input_image',
  image_url: `data:image/png;base64,${data}`,
})
const imageOfContents = (data: string): Loose => ({ inlineData: { mimeType: 'image/png', data } })
const imageOfConverse = (bytes: string): Loose => ({ image: { format: 'png', source: { bytes } } })
const imageOfInteractions = (data: string): Loose => ({ type: 'image', mime_type: 'image/png', data })
const fileOfResponses = (file: File): Loose => ({ type: 'input_file', filename: file.name, file_data: addressOf(file) })
const blobOf = ({ type, data, name }: File): Loose => ({ inlineData: { mimeType: type, data, displayName: name } })
/** Names are unique in a request, and have letters, digits and single spaces. */
const documentOfConverse = (file: File): Loose => ({
  document: {
    format: file.type === 'text/plain' ? 'txt' : 'pdf',
    name: `${file.name.replace(/[^a-z]/gi, '')} ${/\d{3}/.exec(textOf(file))}`,
    source: { bytes: file.data },
  },
})
const documentOfInteractions = ({ type, data }: File): Loose => ({ type: 'document', mime_type: type, data })

/** Returns the parts of a result that shows a picture or a file. Only the first result shows any. */
const shownParts = (
  { picture, shownFile }: Step,
  at: number,
  image: (data: string) => Loose,
  document: (file: File) => Loose,
): Loose[] => [...(picture === undefined || at > 0 ? [] : [image(picture)]), ...withFile(shownFile, document, at)]

const mediaOf = (parts: readonly Loose[]): Loose => (parts.length === 0 ? {} : { parts })

/** Returns a plain text, or the list of a text and other parts. */
const textOr = (text: string | undefined, type: string, parts: readonly Loose[]): Loose =>
  parts.length === 0 ? text : [{ type, text }, ...parts]

export const CALLERS: { readonly [format: string]: Format } = {
  chat: {
    path: () => '/v1/chat/completions',
    body: (history, talk, model, stream) => ({
      model,
      stream,
      reasoning_effort: 'medium',
      tools: functions(talk),
      messages: ruled(talk, history),
    }),
    ...chatLike(data => ({ type: 'image_url', image_url: { url: `data:image/png;base64,${data}` } }), fileOfChat),
  },
  'cohere-chat': {
    path: () => '/v2/chat',
    body: (history, talk, model, stream) => ({
      model,
      stream,
      thinking: { type: 'enabled' },
      tools: functions(talk),
      messages: ruled(talk, history),
    }),
    ...chatLike(data => ({ type: 'image_url', image_url: { url: `data:image/png;base64,${data}` } })),
  },
  messages: {
    ...blocks('messages'),
    path: () => '/v1/messages',
    body: (history, talk, model, stream) => ({
      ...{ model, stream, max_tokens: 9000, thinking: { type: 'enabled', budget_tokens: 2000 } },
      ...(talk.rules === undefined ? {} : { system: talk.rules }),
      tools: talk.tools.map(name => ({ name, description: 'd', input_schema: SCHEMA })),
      messages: history,
    }),
    calls: content =>
      content.flatMap(({ type, id, name, input }) => (type === 'tool_use' ? [{ id, name, args: input }] : [])),
    asks: (calls, step) => [
      {
        role: 'user',
        content: [
          ...calls.map(({ id }, at) => ({
            ...{ type: 'tool_result', tool_use_id: id },
            content: textOr(step.results[at], 'text', shownParts(step, at, imageOfMessages, documentOfMessages)),
          })),
          ...(step.user === undefined ? [] : [{ type: 'text', text: step.user }]),
          ...(step.image ? [imageOfMessages(PNG)] : []),
          ...withFile(step.file, documentOfMessages),
        ],
      },
    ],
    unthinking: ({ role, content }) => {
      const left = content.filter(({ type }: Loose) => !/thinking/.test(type))
      return left.length === 0 ? [] : [{ role, content: left }]
    },
  },
  responses: {
    path: () => '/v1/responses',
    body: (history, talk, model, stream) => ({
      ...{
        model,
        stream,
        store: false,
        reasoning: { effort: 'medium', summary: 'auto' },
        include: ['reasoning.encrypted_content'],
      },
      ...(talk.rules === undefined ? {} : { instructions: talk.rules }),
      tools: talk.tools.map(name => ({ type: 'function', name, description: 'd', parameters: SCHEMA, strict: false })),
      input: history,
    }),
    told: items => items,
    calls: items =>
      items.flatMap(({ type, call_id, name, arguments: args }) =>
        type === 'function_call' ? [{ id: call_id, name, args: JSON.parse(args) }] : [],
      ),
    asks: (calls, step) => [
      ...calls.map(({ id }, at) => ({
        ...{ type: 'function_call_output', call_id: id },
        output: textOr(step.results[at], 'input_text', shownParts(step, at, imageOfResponses, fileOfResponses)),
      })),
      ...(step.user === undefined
        ? []
        : [
            {
              role: 'user',
              content: [
                { type: 'input_text', text: step.user },
                ...(step.image ? [imageOfResponses(PNG)] : []),
                ...withFile(step.file, fileOfResponses),
              ],
            },
          ]),
    ],
    begins: ({ role }) => role === 'user',
    unthinking: item => (item.type === 'reasoning' ? [] : [item]),
  },
  contents: {
    path: (model, stream) => `/v1beta/models/${model}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    body: (history, talk) => ({
      ...(talk.rules === undefined ? {} : { systemInstruction: { parts: [{ text: talk.rules }] } }),
      generationConfig: { thinkingConfig: { includeThoughts: true, thinkingBudget: 2000 } },
      tools: [
        { functionDeclarations: talk.tools.map(name => ({ name, description: 'd', parametersJsonSchema: SCHEMA })) },
      ],
      contents: history,
    }),
    told: turns => turns,
    calls: turns =>
      turns
        .flatMap(({ parts }) => parts ?? [])
        .flatMap(({ functionCall: one }) =>
          one === undefined ? [] : [{ id: one.id, name: one.name, args: one.args }],
        ),
    asks: (calls, step) => [
      ...(calls.length === 0
        ? []
        : [
            {
              role: 'user',
              parts: calls.map(({ id, name }, at) => ({
                functionResponse: {
                  ...(id === undefined ? {} : { id }),
                  ...{ name, response: { result: step.results[at] } },
                  ...mediaOf(shownParts(step, at, imageOfContents, blobOf)),
                },
              })),
            },
          ]),
      ...(step.user === undefined
        ? []
        : [
            {
              role: 'user',
              parts: [
                { text: step.user },
                ...(step.image ? [imageOfContents(PNG)] : []),
                ...withFile(step.file, blobOf),
              ],
            },
          ]),
    ],
    begins: ({ role, parts }) => role === 'user' && parts[0].functionResponse === undefined,
    unthinking: ({ role, parts = [] }) => {
      const left = parts
        .flatMap(({ thought, thoughtSignature: _, ...part }: Loose) => (thought ? [] : [part]))
        .filter((part: Loose) => part.text !== '')
      return left.length === 0 ? [] : [{ role, parts: left }]
    },
  },
  converse: {
    ...blocks('converse'),
    path: (model, stream) => `/model/${model}/converse${stream ? '-stream' : ''}`,
    body: (history, talk) => ({
      ...(talk.rules === undefined ? {} : { system: [{ text: talk.rules }] }),
      inferenceConfig: { maxTokens: 9000 },
      additionalModelRequestFields: { thinking: { type: 'enabled', budget_tokens: 2000 } },
      toolConfig: {
        tools: talk.tools.map(name => ({ toolSpec: { name, description: 'd', inputSchema: { json: SCHEMA } } })),
      },
      messages: history,
    }),
    calls: content =>
      content.flatMap(({ toolUse: one }) =>
        one === undefined ? [] : [{ id: one.toolUseId, name: one.name, args: one.input }],
      ),
    asks: (calls, step) => [
      {
        role: 'user',
        content: [
          ...calls.map(({ id }, at) => ({
            toolResult: {
              toolUseId: id,
              content: [{ text: step.results[at] }, ...shownParts(step, at, imageOfConverse, documentOfConverse)],
            },
          })),
          ...(step.user === undefined ? [] : [{ text: step.user }]),
          ...(step.image ? [imageOfConverse(PNG)] : []),
          ...withFile(step.file, documentOfConverse),
        ],
      },
    ],
    unthinking: ({ role, content }) => {
      const left = content.filter(({ reasoningContent }: Loose) => reasoningContent === undefined)
      return left.length === 0 ? [] : [{ role, content: left }]
    },
  },
  interactions: {
    path: () => '/v1beta/interactions',
    body: (history, talk, model, stream) => ({
      ...{ model, stream, store: false, generation_config: { thinking_level: 'high', thinking_summaries: 'auto' } },
      ...(talk.rules === undefined ? {} : { system_instruction: talk.rules }),
      tools: talk.tools.map(name => ({ type: 'function', name, description: 'd', parameters: SCHEMA })),
      input: history,
    }),
    told: steps => steps,
    calls: steps =>
      steps.flatMap(({ type, id, name, arguments: args }) => (type === 'function_call' ? [{ id, name, args }] : [])),
    asks: (calls, step) => [
      ...calls.map(({ id, name }, at) => ({
        ...{ type: 'function_result', call_id: id, name },
        result: textOr(step.results[at], 'text', shownParts(step, at, imageOfInteractions, documentOfInteractions)),
      })),
      ...(step.user === undefined
        ? []
        : [
            {
              type: 'user_input',
              content: [
                { type: 'text', text: step.user },
                ...(step.image ? [imageOfInteractions(PNG)] : []),
                ...withFile(step.file, documentOfInteractions),
              ],
            },
          ]),
    ],
    begins: ({ type }) => type === 'user_input',
    unthinking: item => (item.type === 'thought' ? [] : [item]),
  },
}

export const FORMATS = Object.keys(CALLERS)

/** Returns what a program keeps of an answer. */
export const echoOf = (format: string, answer: Loose): readonly Loose[] => EVERY_ECHO[format]!.whole(answer)
export const echoOfStream = (format: string, events: readonly Loose[]): readonly Loose[] =>
  EVERY_ECHO[format]!.streamed(events)
