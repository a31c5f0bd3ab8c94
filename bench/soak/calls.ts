/** The formats of the upstreams of the soak. */
export const FORMATS = ['chat', 'messages', 'contents'] as const
export type SoakedFormat = (typeof FORMATS)[number]

/** Behaviours of an upstream: whole streams of text or of tool calls, a stream that breaks off, a failure before it. */
export const MODES = ['text', 'tools', 'cut', 'failing'] as const
export type Mode = (typeof MODES)[number]

/** Chunks of text in a stream of the soak. */
export const CHUNKS = 40

type Event = readonly [event: string | undefined, data: object | string]

interface CallOfFormat {
  /** A stream with one call of the tool, whose arguments arrive in pieces where the format has pieces. */
  readonly events: readonly Event[]
}

/** The tool that the requests of the soak declare and that its streams call. */
export const TOOL = 'look_up_order'
const DESCRIPTION = 'Returns an order by its number.'
const PARAMETERS = { type: 'object', properties: { number: { type: 'string' } }, required: ['number'] }
/** The arguments of the call, the pieces in which they arrive, and text that only the last piece has. */
const ARGUMENTS = '{"number":"2026-0117"}'
const PIECES = ['{"num', 'ber":"2026', '-0117"}']
export const LAST_PIECE = '-0117'

/** Tools as the callers of each format declare them. */
export const DECLARED = {
  chat: { tools: [{ type: 'function', function: { name: TOOL, description: DESCRIPTION, parameters: PARAMETERS } }] },
  messages: { tools: [{ name: TOOL, description: DESCRIPTION, input_schema: PARAMETERS }] },
  contents: { tools: [{ functionDeclarations: [{ name: TOOL, description: DESCRIPTION, parameters: PARAMETERS }] }] },
  responses: { tools: [{ type: 'function', name: TOOL, description: DESCRIPTION, parameters: PARAMETERS }] },
} as const

const named = <T extends { readonly type: string }>(data: T): Event => [data.type, data]

const chunk = (delta: object, finish_reason: string | null): Event => [
  undefined,
  {
    ...{ id: 'chatcmpl-soak', object: 'chat.completion.chunk', created: 1_784_728_648, model: 'upstream-model' },
    choices: [{ index: 0, delta, finish_reason }],
  },
]

const chat: CallOfFormat = {
  events: [
    chunk(
      {
        role: 'assistant',
        tool_calls: [{ index: 0, id: 'call_soak', type: 'function', function: { name: TOOL, arguments: '' } }],
      },
      null,
    ),
    ...PIECES.map(piece => chunk({ tool_calls: [{ index: 0, function: { arguments: piece } }] }, null)),
    chunk({}, 'tool_calls'),
    [undefined, '[DONE]'],
  ],
}

const messages: CallOfFormat = {
  events: [
    named({
      type: 'message_start',
      message: {
        ...{ id: 'msg_soak', type: 'message', role: 'assistant', model: 'upstream-model', content: [] },
        ...{ stop_reason: null, stop_sequence: null, usage: { input_tokens: 90, output_tokens: 1 } },
      },
    }),
    named({
      type: 'content_block_start',
      index: 0,
      content_block: { type: 'tool_use', id: 'toolu_soak', name: TOOL, input: {} },
    }),
    ...PIECES.map(partial_json =>
      named({ type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json } }),
    ),
    named({ type: 'content_block_stop', index: 0 }),
    named({
      type: 'message_delta',
      delta: { stop_reason: 'tool_use', stop_sequence: null },
      usage: { output_tokens: 20 },
    }),
    named({ type: 'message_stop' }),
  ],
}

const contents: CallOfFormat = {
  events: [
    [
      undefined,
      {
        candidates: [
          {
            content: {
              role: 'model',
              parts: [{ functionCall: { name: TOOL, args: JSON.parse(ARGUMENTS) as object } }],
            },
            ...{ finishReason: 'STOP', index: 0 },
          },
        ],
        usageMetadata: { promptTokenCount: 90, candidatesTokenCount: 20, totalTokenCount: 110 },
        modelVersion: 'upstream-model',
      },
    ],
  ],
}

export const CALLS: { readonly [F in SoakedFormat]: CallOfFormat } = { chat, messages, contents }
