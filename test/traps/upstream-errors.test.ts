import { describe, expect, it } from 'vitest'
import type { CanonicalError, ErrorKind } from '../../src/canonical/error.ts'
import { WRITERS } from '../../src/egress/index.ts'
import { READERS } from '../../src/ingress/index.ts'
import { TIMED } from '../builders/time.ts'
import { asked } from '../laws/arbitrary-result.ts'
import { formatsWith } from '../laws/support.ts'

/* Upstreams' errors about a request that is too long, and about the gateway's account (traps 98, 99). */

const openai = (message: string, more: object = {}) => ({ error: { message, type: 'invalid_request_error', ...more } })
const anthropic = (message: string, type = 'invalid_request_error') => ({ type: 'error', error: { type, message } })
const google = (code: number, status: string, message: string) => ({ error: { code, status, message } })

type Said = readonly [
  vendor: string,
  format: string,
  status: number,
  body: object,
  tokens: number | undefined,
  maximum: number | undefined,
]

const TOO_LONG: readonly Said[] = [
  [
    'OpenAI, with its code',
    'chat',
    400,
    openai(
      "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens. Please reduce the length of the messages.",
      { code: 'context_length_exceeded', param: 'messages' },
    ),
    9000,
    8192,
  ],
  [
    'OpenAI, with a limit of its own',
    'responses',
    400,
    openai('Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 300000 tokens.', {
      code: 'context_length_exceeded',
    }),
    300000,
    272000,
  ],
  [
    'OpenAI, without numbers',
    'responses',
    400,
    openai('Your input exceeds the context window of this model. Please adjust your input and try again.'),
    undefined,
    undefined,
  ],
  [
    'OpenAI, embeddings',
    'embeddings',
    400,
    openai(
      "This model's maximum context length is 8191 tokens, however you requested 10346 tokens (10346 in your prompt; 0 for the completion).",
    ),
    10346,
    8191,
  ],
  [
    'DeepSeek',
    'chat',
    400,
    openai(
      "This model's maximum context length is 131072 tokens. However, you requested 131134 tokens (122942 in the messages, 8192 in the completion).",
      { code: 'invalid_request_error' },
    ),
    131134,
    131072,
  ],
  [
    'vLLM, flat',
    'chat',
    400,
    {
      object: 'error',
      message:
        "This model's maximum context length is 262144 tokens. However, you requested 0 output tokens and your prompt contains at least 262145 input tokens, for a total of at least 262145 tokens.",
      type: 'BadRequestError',
      code: 400,
    },
    262145,
    262144,
  ],
  [
    'vLLM, of the sum',
    'chat',
    400,
    openai(
      "You passed 99073 input tokens and requested 32000 output tokens. However, the model's context length is only 131072 tokens, resulting in a maximum input length of 99072 tokens.",
    ),
    131073,
    131072,
  ],
  [
    'vLLM, of the limit of the answer',
    'chat',
    400,
    openai(
      "'max_tokens' is too large: 32000. This model's maximum context length is 40960 tokens and your request has 10000 input tokens (32000 > 40960 - 10000).",
    ),
    42000,
    40960,
  ],
  [
    'SGLang',
    'chat',
    400,
    {
      object: 'error',
      type: 'BadRequestError',
      message:
        "Requested token count exceeds the model's maximum context length of 262144 tokens. You requested a total of 262462 tokens: 230462 tokens from the input messages and 32000 tokens for the completion.",
    },
    262462,
    262144,
  ],
  [
    'OpenRouter',
    'chat',
    400,
    openai(
      "This endpoint's maximum context length is 1048576 tokens. However, you requested about 1293741 tokens (1227853 of text input).",
      { code: 400 },
    ),
    1293741,
    1048576,
  ],
  [
    'OpenRouter, in the words of another',
    'chat',
    400,
    openai('Provider returned error', {
      code: 400,
      metadata: { raw: JSON.stringify(anthropic('prompt is too long: 213462 tokens > 200000 maximum')) },
    }),
    213462,
    200000,
  ],
  [
    'xAI',
    'chat',
    400,
    {
      code: 'Client specified an invalid argument',
      error: "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
    },
    537812,
    131072,
  ],
  [
    'Groq',
    'chat',
    400,
    openai('Please reduce the length of the messages or completion.', { code: 'context_length_exceeded' }),
    undefined,
    undefined,
  ],
  [
    'Mistral',
    'chat',
    400,
    {
      object: 'error',
      message:
        'Prompt contains 300000 tokens and 0 draft tokens, too large for model with 131072 maximum context length',
      type: 'invalid_request_prompt',
      code: '3051',
    },
    300000,
    131072,
  ],
  [
    'Together',
    'chat',
    422,
    openai("The input (300000 tokens) is longer than the model's context length (131072 tokens)."),
    300000,
    131072,
  ],
  [
    'text-generation-inference',
    'chat',
    422,
    openai(
      'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 40960. Given: 38984 `inputs` tokens and 2048 `max_new_tokens`',
    ),
    41032,
    40960,
  ],
  [
    'llama.cpp',
    'chat',
    400,
    openai('request (180283 tokens) exceeds the available context size (180224 tokens), try increasing it', {
      type: 'exceed_context_size_error',
      code: 400,
    }),
    180283,
    180224,
  ],
  ['Ollama', 'chat', 500, openai('the input length exceeds the context length'), undefined, undefined],
  [
    'Moonshot',
    'chat',
    400,
    openai('Invalid request: Your request exceeded model token limit: 262144 (requested: 300000)'),
    300000,
    262144,
  ],
  ['Anthropic', 'messages', 400, anthropic('prompt is too long: 213462 tokens > 200000 maximum'), 213462, 200000],
  [
    'Anthropic, with the answer',
    'messages',
    400,
    anthropic(
      'input length and `max_tokens` exceed context limit: 199323 + 20000 > 200000, decrease input length or `max_tokens` and try again',
    ),
    219323,
    200000,
  ],
  [
    'Google',
    'contents',
    400,
    google(
      400,
      'INVALID_ARGUMENT',
      'The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).',
    ),
    1196265,
    1048575,
  ],
  [
    'Google, Vertex',
    'contents',
    400,
    google(
      400,
      'INVALID_ARGUMENT',
      'Unable to submit request because the input token count is 34444 but model only supports up to 32768.',
    ),
    34444,
    32768,
  ],
  [
    'Cohere',
    'cohere',
    400,
    { message: 'too many tokens: total number of tokens cannot exceed 4081, received 5000. Try a shorter input.' },
    5000,
    4081,
  ],
]

const readOf = (format: string, status: number, body: object): CanonicalError =>
  READERS[format]!.error!({ status, headers: {}, body: body as never })

describe('trap 98: a request too long is a kind of error of its own', () => {
  it.each(TOO_LONG)('%s', (_, format, status, body, tokens, maximum) => {
    const { kind, context, code } = readOf(format, status, body)
    expect({ kind, ...context, code }).toEqual({ kind: 'context-too-long', tokens, maximum, code: undefined })
  })

  it('also in a stream, and below a status of 200', () => {
    const said = { message: 'prompt is too long: 213462 tokens > 200000 maximum', code: 'context_length_exceeded' }
    for (const format of ['chat', 'responses', 'messages', 'contents']) {
      const wire = { type: 'error', error: { ...said, type: 'invalid_request_error' } }
      const [error] = [...READERS[format]!.events!(asked).push({ event: 'error', data: JSON.stringify(wire) })]
        .filter(event => event.type === 'error')
        .map(event => event.error)
      expect(error, format).toMatchObject({ kind: 'context-too-long', context: { tokens: 213462, maximum: 200000 } })
    }
  })

  it.each<[string, number, object, ErrorKind]>([
    [
      'a limit of tokens a minute',
      429,
      openai(
        'Request too large for m on tokens per min (TPM): Limit 30000, Requested 32000. The input or output tokens must be reduced.',
        { code: 'rate_limit_exceeded' },
      ),
      'too-large',
    ],
    [
      'the same with 413',
      413,
      openai(
        'Request too large for model `m` on tokens per minute (TPM): Limit 6000, Requested 7000, please reduce your message size',
        {
          code: 'rate_limit_exceeded',
        },
      ),
      'too-large',
    ],
    ['a body of too many bytes', 413, openai('Request Entity Too Large'), 'too-large'],
    [
      'an answer of too many tokens',
      400,
      openai('max_tokens is too large: 100000. This model supports at most 16384 completion tokens.'),
      'invalid-request',
    ],
    [
      'a text of too many characters',
      400,
      openai("Invalid 'messages[0].name': string too long. Expected a string with maximum length 64."),
      'invalid-request',
    ],
  ])('%s is none', (_, status, body, kind) => {
    expect(readOf('chat', status, body).kind).toBe(kind)
  })

  it('numbers of any length are read at once', TIMED, () => {
    const digits = '1,'.repeat(200_000)
    const began = performance.now()
    readOf('chat', 400, openai(`prompt is too long: ${digits} ${digits}`))
    expect(performance.now() - began).toBeLessThan(500)
  })
})

const told = (format: string, error: CanonicalError) => WRITERS[format]!.error!(error, 'req_1')
const context = { tokens: 213462, maximum: 200000 }
const long: CanonicalError = { kind: 'context-too-long', message: 'Too long.', status: 400, context }

describe("trap 98: a request too long is told in the caller's own way", () => {
  it.each(['chat', 'responses', 'completions', 'embeddings'])('%s: by its code', format => {
    expect(told(format, long)).toMatchObject({
      status: 400,
      body: {
        error: {
          type: 'invalid_request_error',
          code: 'context_length_exceeded',
          message: expect.stringContaining('maximum context length is 200000 tokens'),
        },
      },
    })
  })

  it('messages: by its words', () => {
    const { status, body } = told('messages', long)
    expect([status, body['error']]).toEqual([
      400,
      { type: 'invalid_request_error', message: 'prompt is too long: 213462 tokens > 200000 maximum' },
    ])
    const { body: without } = told('messages', { kind: 'context-too-long', message: 'Too long.' })
    expect(without['error']).toMatchObject({ message: 'prompt is too long: Too long.' })
  })

  it('contents: by its words', () => {
    const { status, body } = told('contents', long)
    expect([status, body]).toEqual([
      400,
      {
        error: {
          code: 400,
          status: 'INVALID_ARGUMENT',
          message: 'The input token count (213462) exceeds the maximum number of tokens allowed (200000).',
        },
      },
    ])
  })

  it('one in the format’s own words is passed on unchanged', () => {
    for (const [, format, status, body] of TOO_LONG.filter(([vendor]) =>
      /^(?:OpenAI|Anthropic|Google$)/.test(vendor),
    )) {
      const read = readOf(format, status, body)
      expect(JSON.stringify(told(format, read).body)).toContain(JSON.stringify(read.message).slice(1, -1))
    }
  })
})

describe('trap 99: whose fault it is', () => {
  it.each<[string, string, number, object, ErrorKind]>([
    [
      'OpenAI, no quota',
      'chat',
      429,
      openai('You exceeded your current quota, please check your plan and billing details.', {
        type: 'insufficient_quota',
        code: 'insufficient_quota',
      }),
      'out-of-credit',
    ],
    [
      'OpenAI, no quota (responses)',
      'responses',
      429,
      openai('You exceeded your current quota.', { type: 'insufficient_quota', code: null }),
      'out-of-credit',
    ],
    [
      'OpenAI, a rate',
      'chat',
      429,
      openai('Rate limit reached for m on requests per min.', { code: 'rate_limit_exceeded' }),
      'rate-limited',
    ],
    [
      'OpenAI, billing',
      'chat',
      429,
      openai('Your account is not active, please check your billing details on our website.', {
        code: 'billing_not_active',
      }),
      'out-of-credit',
    ],
    [
      'OpenAI, a hard limit',
      'images',
      400,
      openai('Billing hard limit has been reached', { code: 'billing_hard_limit_reached' }),
      'out-of-credit',
    ],
    [
      'OpenAI, a model',
      'chat',
      403,
      openai('Project `proj_1` does not have access to model `m`', { code: 'model_not_found' }),
      'not-found',
    ],
    [
      'OpenAI, a model without vectors',
      'embeddings',
      403,
      openai('You are not allowed to generate embeddings from this model'),
      'not-found',
    ],
    [
      'Anthropic, credit',
      'messages',
      400,
      anthropic('Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing.'),
      'out-of-credit',
    ],
    [
      'Anthropic, a limit of spending',
      'messages',
      400,
      anthropic('You have reached your specified API usage limits. You will regain access on 2026-12-01.'),
      'out-of-credit',
    ],
    ['Anthropic, disabled', 'messages', 400, anthropic('This organization has been disabled.'), 'unauthenticated'],
    ['DeepSeek', 'chat', 402, openai('Insufficient Balance', { type: 'unknown_error' }), 'out-of-credit'],
    ['DeepSeek, a model', 'chat', 400, openai('Model Not Exist'), 'invalid-request'],
    [
      'xAI, credit',
      'chat',
      403,
      { code: 'x', error: "Your newly created team doesn't have any credits or licenses yet." },
      'out-of-credit',
    ],
    [
      'xAI, credit used',
      'chat',
      429,
      {
        code: 'x',
        error: 'Your team 16f2 has either used all available credits or reached its monthly spending limit.',
      },
      'out-of-credit',
    ],
    [
      'xAI, key',
      'chat',
      400,
      { code: 'x', error: 'Incorrect API key provided: sk***1. You can obtain an API key from the console.' },
      'unauthenticated',
    ],
    [
      'xAI, content',
      'chat',
      403,
      { code: 'x', error: 'Content violates usage guidelines. Team: 16f2, API key ID: 77, Model: m' },
      'invalid-request',
    ],
    [
      'OpenRouter, moderation',
      'chat',
      403,
      openai('m requires moderation on X. Your input was flagged for "violence".', { code: 403 }),
      'invalid-request',
    ],
    [
      'Google, key',
      'contents',
      400,
      {
        error: {
          code: 400,
          status: 'INVALID_ARGUMENT',
          message: 'API key not valid. Please pass a valid API key.',
          details: [{ reason: 'API_KEY_INVALID' }],
        },
      },
      'unauthenticated',
    ],
    [
      'Google, a rate',
      'contents',
      429,
      google(429, 'RESOURCE_EXHAUSTED', 'You exceeded your current quota, please check your plan and billing details.'),
      'rate-limited',
    ],
    [
      'Google, its chat door',
      'chat',
      429,
      google(429, 'RESOURCE_EXHAUSTED', 'You exceeded your current quota, please check your plan and billing details.'),
      'rate-limited',
    ],
    [
      'Groq, a model',
      'chat',
      400,
      openai('The model `m` has been decommissioned and is no longer supported.', { code: 'model_decommissioned' }),
      'invalid-request',
    ],
    [
      'Mistral, a model',
      'chat',
      400,
      { object: 'error', message: 'Invalid model: m', type: 'invalid_model', code: '1500' },
      'invalid-request',
    ],
    [
      'Voyage, a model',
      'embeddings',
      400,
      { detail: "Model m is not supported. Supported models are ['voyage-2']." },
      'invalid-request',
    ],
    [
      'what a caller wrote',
      'chat',
      400,
      openai("Invalid value: 'Your credit balance is too low'. Supported values are: 'auto'."),
      'invalid-request',
    ],
  ])('%s', (_, format, status, body, kind) => {
    expect(readOf(format, status, body).kind).toBe(kind)
  })

  it('a model that is not there is another channel’s chance, whatever its status', () => {
    for (const body of [openai('Model Not Exist'), openai('m is not a valid model ID', { code: 400 })])
      expect(readOf('chat', 400, body)).toMatchObject({ kind: 'invalid-request', retry: true })
    expect(readOf('chat', 400, openai('Bad.')).retry).toBeUndefined()
  })

  it('words of a policy name no team', () => {
    const read = readOf('chat', 403, { error: 'Content violates usage guidelines. Team: 16f2, API key ID: 77' })
    expect(JSON.stringify(read)).not.toMatch(/16f2|77/)
  })

  it.each(formatsWith('error'))("%s: an upstream's account is 503 with a code", format => {
    const { status, body } = told(format, { kind: 'upstream-account', message: 'No.' })
    expect(status).toBe(503)
    expect(JSON.stringify(body)).toContain('upstream_account')
  })

  it.each(['chat', 'responses', 'messages'])('%s: SDKs are told not to ask again', format => {
    expect(told(format, { kind: 'upstream-account', message: 'No.' }).headers).toMatchObject({
      'x-should-retry': 'false',
    })
  })
})
