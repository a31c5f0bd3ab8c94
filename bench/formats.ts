/** A format for the bench, with its requests and the answers of its upstream. */
export interface BenchFormat {
  /** Path below the base address. */
  path(model: string, stream: boolean): string
  readonly headers: { readonly [name: string]: string }
  body(model: string, stream: boolean, image: string | undefined): object
  /** Body and media type of a request that is a form. Such a format uses this function in place of `request`. */
  form?(model: string): { readonly contentType: string; readonly bytes: Buffer }
  /** A complete answer. */
  readonly whole: object
  /**
   * Events of a streamed answer with `count` chunks of text. Each has a name (in formats that name events) and data.
   */
  events(count: number): readonly (readonly [event: string | undefined, data: object | string])[]
}

const SYSTEM =
  'You are a careful assistant inside a ticketing system. Answer in plain text, quote the numbers you rely on, and say so when the material does not settle the question.'
const TURNS = [
  'Our night job copies 1.2 million rows between two databases and has slowed down from 11 minutes to 47 since Monday. Nothing was deployed. Where would you look first?',
  'First at what changed without a deployment: the amount of data, the statistics the planner uses, the indexes, the disks, and who else runs at that hour. Can you show the plan of the slowest statement, and how many rows it expects against how many it meets?',
  'The plan expects 900 rows and meets 410,000. It uses a nested loop over the orders table. The table was restored from a backup on Sunday evening, everything else is as it was last week.',
]
const ANSWER = `That explains it. ${'After a restore the planner has no statistics of its own until they are gathered again, so it guesses. '.repeat(7)}Gather them and run the job once by hand.`
/** Texts of the chunks in turn. Some gateways end a stream that repeats one text a hundred times. */
const CHUNKS = [' statistics', ' statistics,'] as const
const chunkAt = (index: number): string => CHUNKS[index % 2]!
const TOKENS = { input: 231, output: 187 }

const chat: BenchFormat = {
  path: () => '/v1/chat/completions',
  headers: {},
  body: (model, stream, image) => ({
    model,
    messages: [
      { role: 'system', content: SYSTEM },
      ...TURNS.map((content, index) => ({ role: index % 2 === 0 ? 'user' : 'assistant', content })),
      ...(image === undefined
        ? []
        : [{ role: 'user', content: [{ type: 'image_url', image_url: { url: `data:image/png;base64,${image}` } }] }]),
    ],
    temperature: 0.2,
    max_completion_tokens: 1000,
    ...(stream ? { stream, stream_options: { include_usage: true } } : {}),
  }),
  whole: {
    id: 'chatcmpl-E4Rjs6IxaJVge9Ntk5keJsaeDy6vS',
    object: 'chat.completion',
    created: 1_784_728_648,
    model: 'upstream-model',
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: ANSWER, refusal: null, annotations: [] },
        logprobs: null,
        finish_reason: 'stop',
      },
    ],
    usage: {
      prompt_tokens: TOKENS.input,
      completion_tokens: TOKENS.output,
      total_tokens: TOKENS.input + TOKENS.output,
      prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
      completion_tokens_details: { reasoning_tokens: 0, audio_tokens: 0 },
    },
    service_tier: 'default',
    system_fingerprint: 'fp_d0469e1700',
  },
  events: count => {
    const chunk = (fields: object) =>
      [
        undefined,
        {
          id: 'chatcmpl-E4Rjs6IxaJVge9Ntk5keJsaeDy6vS',
          object: 'chat.completion.chunk',
          created: 1_784_728_648,
          model: 'upstream-model',
          service_tier: 'default',
          system_fingerprint: 'fp_d0469e1700',
          ...fields,
          obfuscation: 'auU6fTns',
        },
      ] as const
    const choice = (delta: object, finish_reason: string | null) =>
      chunk({ choices: [{ index: 0, delta, logprobs: null, finish_reason }], usage: null })
    return [
      choice({ role: 'assistant', content: '', refusal: null }, null),
      ...Array.from({ length: count }, (_, index) => choice({ content: chunkAt(index) }, null)),
      choice({}, 'stop'),
      chunk({
        choices: [],
        usage: { prompt_tokens: TOKENS.input, completion_tokens: count, total_tokens: TOKENS.input + count },
      }),
      [undefined, '[DONE]'],
    ]
  },
}

const messages: BenchFormat = {
  path: () => '/v1/messages',
  headers: { 'anthropic-version': '2023-06-01' },
  body: (model, stream, image) => ({
    model,
    max_tokens: 1000,
    system: SYSTEM,
    messages: [
      ...TURNS.map((content, index) => ({ role: index % 2 === 0 ? 'user' : 'assistant', content })),
      ...(image === undefined
        ? []
        : [
            {
              role: 'user',
              content: [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: image } }],
            },
          ]),
    ],
    temperature: 0.2,
    ...(stream ? { stream } : {}),
  }),
  whole: {
    id: 'msg_018XZkwvj9asBiffg3fXt88s',
    type: 'message',
    role: 'assistant',
    model: 'upstream-model',
    content: [{ type: 'text', text: ANSWER }],
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage: { input_tokens: TOKENS.input, output_tokens: TOKENS.output, service_tier: 'standard' },
  },
  events: count => {
    const named = <T extends { type: string }>(data: T) => [data.type, data] as const
    return [
      named({
        type: 'message_start',
        message: {
          id: 'msg_018XZkwvj9asBiffg3fXt88s',
          type: 'message',
          role: 'assistant',
          model: 'upstream-model',
          content: [],
          stop_reason: null,
          stop_sequence: null,
          usage: { input_tokens: TOKENS.input, output_tokens: 1, service_tier: 'standard' },
        },
      }),
      named({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
      ...Array.from({ length: count }, (_, index) =>
        named({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: chunkAt(index) } }),
      ),
      named({ type: 'content_block_stop', index: 0 }),
      named({
        type: 'message_delta',
        delta: { stop_reason: 'end_turn', stop_sequence: null },
        usage: { output_tokens: count },
      }),
      named({ type: 'message_stop' }),
    ]
  },
}

const contents: BenchFormat = {
  path: (model, stream) => `/v1beta/models/${model}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
  headers: {},
  body: (_model, _stream, image) => ({
    systemInstruction: { parts: [{ text: SYSTEM }] },
    contents: [
      ...TURNS.map((text, index) => ({ role: index % 2 === 0 ? 'user' : 'model', parts: [{ text }] })),
      ...(image === undefined
        ? []
        : [{ role: 'user', parts: [{ inlineData: { mimeType: 'image/png', data: image } }] }]),
    ],
    generationConfig: { temperature: 0.2, maxOutputTokens: 1000 },
  }),
  whole: {
    candidates: [{ content: { parts: [{ text: ANSWER }], role: 'model' }, finishReason: 'STOP', index: 0 }],
    usageMetadata: {
      promptTokenCount: TOKENS.input,
      candidatesTokenCount: TOKENS.output,
      totalTokenCount: TOKENS.input + TOKENS.output,
    },
    modelVersion: 'upstream-model',
    responseId: 'beHBaJfEMIi-qtsP3769-Q8',
  },
  events: count =>
    Array.from({ length: count }, (_, index) => [
      undefined,
      {
        candidates: [
          {
            content: { parts: [{ text: chunkAt(index) }], role: 'model' },
            ...(index === count - 1 ? { finishReason: 'STOP' } : {}),
            index: 0,
          },
        ],
        usageMetadata: {
          promptTokenCount: TOKENS.input,
          candidatesTokenCount: index + 1,
          totalTokenCount: TOKENS.input + index + 1,
        },
        modelVersion: 'upstream-model',
        responseId: 'beHBaJfEMIi-qtsP3769-Q8',
      },
    ]),
}

const SENTENCE = 'The planner expects nine hundred rows and meets four hundred thousand of them.'
/** A vector of 1536 numbers in base64, the encoding that the OpenAI client requests. */
const VECTOR = Buffer.from(Float32Array.from({ length: 1536 }, (_, index) => Math.sin(index) / 40).buffer).toString(
  'base64',
)

const embeddings: BenchFormat = {
  path: () => '/v1/embeddings',
  headers: {},
  body: model => ({
    model,
    input: Array.from({ length: 100 }, (_, index) => `${index}: ${SENTENCE}`),
    encoding_format: 'base64',
  }),
  whole: {
    object: 'list',
    data: Array.from({ length: 100 }, (_, index) => ({ object: 'embedding', index, embedding: VECTOR })),
    model: 'upstream-model',
    usage: { prompt_tokens: 1700, total_tokens: 1700 },
  },
  events: () => [],
}

const images: BenchFormat = {
  path: () => '/v1/images/edits',
  headers: {},
  body: () => ({}),
  form: model => form({ model, prompt: 'Make the sky of it a little darker.' }, 'image', 'photo.png', 10),
  whole: {
    created: 1_784_728_648,
    data: [{ b64_json: Buffer.alloc(30_000, 'interlingua').toString('base64') }],
    usage: { input_tokens: 300, output_tokens: 1000, total_tokens: 1300 },
  },
  events: () => [],
}

const transcriptions: BenchFormat = {
  path: () => '/v1/audio/transcriptions',
  headers: {},
  body: () => ({}),
  form: model => form({ model, language: 'en' }, 'file', 'meeting.mp3', 25),
  whole: { text: ANSWER, usage: { type: 'duration', seconds: 1800 } },
  events: () => [],
}

/** A form with text fields followed by a file of `megabytes` megabytes. Well-behaved clients use this order. */
function form(fields: { readonly [name: string]: string }, file: string, name: string, megabytes: number) {
  const boundary = '----bench-of-the-gateway'
  const part = (head: string): string => `--${boundary}\r\nContent-Disposition: form-data; ${head}\r\n`
  const texts = Object.entries(fields).map(([field, value]) => `${part(`name="${field}"`)}\r\n${value}\r\n`)
  const bytes = Buffer.concat([
    Buffer.from(`${texts.join('')}${part(`name="${file}"; filename="${name}"`)}Content-Type: ${TYPES[file]}\r\n\r\n`),
    Buffer.alloc(megabytes * 1_000_000, 'a run of bytes that is no text at all \x00\xff'),
    Buffer.from(`\r\n--${boundary}--\r\n`),
  ])
  return { contentType: `multipart/form-data; boundary=${boundary}`, bytes }
}

const TYPES: { readonly [field: string]: string } = { image: 'image/png', file: 'audio/mpeg' }

/** Formats of the upstreams of the bench. */
export const UPSTREAMS = { chat, messages, contents, embeddings, images, transcriptions } as const

/** The part of a format that the caller uses. */
export type CalledFormat = Pick<BenchFormat, 'path' | 'headers' | 'body' | 'form'>

const responses: CalledFormat = {
  path: () => '/v1/responses',
  headers: {},
  body: (model, stream, image) => ({
    model,
    instructions: SYSTEM,
    input: [
      ...TURNS.map((content, index) => ({ role: index % 2 === 0 ? 'user' : 'assistant', content })),
      ...(image === undefined
        ? []
        : [{ role: 'user', content: [{ type: 'input_image', image_url: `data:image/png;base64,${image}` }] }]),
    ],
    temperature: 0.2,
    max_output_tokens: 1000,
    store: false,
    ...(stream ? { stream } : {}),
  }),
}

/** Responses that the gateway stores, as it does by default. */
const stored: CalledFormat = {
  ...responses,
  body: (model, stream, image) => ({ ...responses.body(model, stream, image), store: true }),
}

/** Formats of the callers of the bench. */
export const CALLERS = { ...UPSTREAMS, responses, stored } as const

export type UpstreamFormat = keyof typeof UPSTREAMS
export type CallerFormat = keyof typeof CALLERS
