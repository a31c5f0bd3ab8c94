import Anthropic from '@anthropic-ai/sdk'
import {
  type Ask,
  type Caller,
  type Got,
  LIMIT,
  RULES,
  SCHEMA,
  type Talk,
  type TestServer,
  TOOLS,
  type Turn,
} from '../caller.ts'
import type { Loose } from '../scene.ts'

class MessagesTalk implements Talk {
  private readonly client: Anthropic
  private readonly model: string
  private readonly history: Anthropic.MessageParam[] = []
  private pending: readonly string[] = []

  constructor({ address, key, model = 'm', retries = 0, headers = {} }: TestServer) {
    this.client = new Anthropic({ baseURL: address, apiKey: key, maxRetries: retries, defaultHeaders: headers })
    this.model = model
  }

  async say(turn: Turn, ask: Ask): Promise<Got> {
    this.history.push({ role: 'user', content: this.blocksOf(turn) })
    const body = {
      model: this.model,
      system: RULES,
      messages: this.history,
      max_tokens: LIMIT,
      ...(ask.tools
        ? { tools: TOOLS.map(({ parameters, ...tool }) => ({ ...tool, input_schema: parameters as Loose })) }
        : {}),
      ...(ask.thinks
        ? {
            thinking: { type: 'adaptive' as const, display: 'summarized' as const },
            output_config: { effort: 'high' as const },
          }
        : {}),
      ...(ask.schema ? { output_config: { format: { type: 'json_schema' as const, schema: SCHEMA } } } : {}),
    }
    const options = ask.signal === undefined ? {} : { signal: ask.signal }
    const message = ask.stream
      ? await this.streamed(body, ask, options)
      : await this.client.messages.create(body, options)
    this.history.push({ role: 'assistant', content: message.content as Loose })
    const calls = message.content.filter(block => block.type === 'tool_use')
    this.pending = calls.map(({ id }) => id)
    const { usage } = message
    return {
      text: message.content.map(block => (block.type === 'text' ? block.text : '')).join(''),
      thought: message.content.map(block => (block.type === 'thinking' ? block.thinking : '')).join(''),
      calls: calls.map(({ name, input }) => ({ name, arguments: input as Loose })),
      finish: message.stop_reason ?? undefined,
      input: usage.input_tokens + (usage.cache_read_input_tokens ?? 0) + (usage.cache_creation_input_tokens ?? 0),
      output: usage.output_tokens,
    }
  }

  /** Uses the client's own collector, which also checks the order of events. */
  private async streamed(body: Loose, { onText }: Ask, options: object) {
    const stream = this.client.messages.stream(body, options)
    for await (const event of stream)
      if (event.type === 'content_block_delta' && event.delta.type === 'text_delta') onText?.()
    return stream.finalMessage()
  }

  private blocksOf({ text, image, outputs = [] }: Turn): Anthropic.ContentBlockParam[] {
    return [
      ...outputs.map((output, index) => ({
        type: 'tool_result' as const,
        tool_use_id: this.pending[index]!,
        content: JSON.stringify(output),
      })),
      ...(text === undefined ? [] : [{ type: 'text' as const, text }]),
      ...(image === undefined
        ? []
        : [
            {
              type: 'image' as const,
              source: { type: 'base64' as const, media_type: 'image/png' as const, data: image },
            },
          ]),
    ]
  }
}

const CLASSES: { readonly [status: number]: string } = {
  ...{ 400: 'BadRequestError', 401: 'AuthenticationError', 403: 'PermissionDeniedError', 404: 'NotFoundError' },
  ...{ 413: 'ContentTooLargeError', 422: 'UnprocessableEntityError', 429: 'RateLimitError' },
  ...{ 503: 'ServiceUnavailableError', 504: 'GatewayTimeoutError', 529: 'OverloadedError' },
}

export const anthropic: Caller = {
  name: 'anthropic messages',
  format: 'messages',
  words: { stop: 'end_turn', calls: 'tool_use' },
  errors: status => CLASSES[status] ?? 'InternalServerError',
  failure: thrown => {
    if (!(thrown instanceof Anthropic.APIError)) throw thrown
    return { name: thrown.constructor.name, status: thrown.status, message: thrown.message }
  },
  open: testServer => new MessagesTalk(testServer),
}
