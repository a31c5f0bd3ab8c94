import OpenAI from 'openai'
import {
  type Ask,
  type Caller,
  type Got,
  LIMIT,
  parsed,
  RULES,
  SCHEMA,
  type Talk,
  type TestServer,
  TOOLS,
  type Turn,
} from '../caller.ts'
import type { Loose } from '../scene.ts'
import { openaiErrors, openaiFailure } from './openai.ts'

type Message = OpenAI.ChatCompletionMessageParam

/**
 * Returns the reasoning of a message. Upstreams have several names for it, and some put it into a list of details, or
 * into a list beside the text.
 */
const thoughtIn = ({ reasoning_content, reasoning, reasoning_details, content }: Loose): string => {
  if (reasoning_content || reasoning) return reasoning_content || reasoning.thinking || reasoning
  const pieces = (Array.isArray(content) ? content : []).flatMap((part: Loose) => part.thinking ?? [])
  return [...(reasoning_details ?? []), ...pieces].map((part: Loose) => part.text ?? part.summary ?? '').join('')
}

const textIn = (content: Loose): string =>
  Array.isArray(content) ? content.map(part => part.text ?? '').join('') : (content ?? '')

class ChatTalk implements Talk {
  private readonly client: OpenAI
  private readonly model: string
  private readonly history: Message[] = [{ role: 'system', content: RULES }]
  private pending: readonly string[] = []

  constructor({ address, key, model = 'm', retries = 0, headers = {} }: TestServer) {
    this.client = new OpenAI({ baseURL: `${address}/v1`, apiKey: key, maxRetries: retries, defaultHeaders: headers })
    this.model = model
  }

  async say(turn: Turn, ask: Ask): Promise<Got> {
    this.history.push(...this.messagesOf(turn))
    const body = {
      model: this.model,
      messages: this.history,
      max_completion_tokens: LIMIT,
      ...(ask.tools ? { tools: TOOLS.map(tool => ({ type: 'function' as const, function: tool })) } : {}),
      ...(ask.thinks ? { reasoning_effort: 'high' as const } : {}),
      ...(ask.schema
        ? {
            response_format: {
              type: 'json_schema' as const,
              json_schema: { name: 'answer', schema: SCHEMA, strict: true },
            },
          }
        : {}),
    }
    const options = ask.signal === undefined ? {} : { signal: ask.signal }
    const completion = ask.stream
      ? await this.streamed(body, ask, options)
      : await this.client.chat.completions.create(body, options)
    const { message, finish_reason } = completion.choices[0]!
    this.history.push(message)
    this.pending = (message.tool_calls ?? []).map(({ id }) => id)
    return {
      text: textIn(message.content),
      thought: thoughtIn(message),
      calls: (message.tool_calls ?? []).map((call: Loose) => ({
        name: (call.function ?? call.custom).name,
        arguments: parsed(call.function?.arguments ?? call.custom.input),
      })),
      finish: finish_reason,
      input: completion.usage?.prompt_tokens,
      output: completion.usage?.completion_tokens,
    }
  }

  /** Uses the client's own collector, which also checks the chunks. */
  private async streamed(body: Loose, { onText }: Ask, options: object) {
    const stream = this.client.chat.completions.stream({ ...body, stream_options: { include_usage: true } }, options)
    let thought = ''
    for await (const chunk of stream) {
      const delta = chunk.choices[0]?.delta as Loose
      // Details after reasoning add information about it.
      const { reasoning_details, ...told } = delta ?? {}
      thought += thoughtIn(thought === '' ? { ...told, reasoning_details } : told)
      if (delta?.content) onText?.()
    }
    const completion = await stream.finalChatCompletion()
    Object.assign(completion.choices[0]!.message, thought === '' ? {} : { reasoning_content: thought })
    return completion
  }

  private messagesOf({ text, image, outputs = [] }: Turn): Message[] {
    const results = outputs.map((output, index) => ({
      role: 'tool' as const,
      tool_call_id: this.pending[index]!,
      content: JSON.stringify(output),
    }))
    if (text === undefined) return results
    if (image === undefined) return [...results, { role: 'user', content: text }]
    const url = `data:image/png;base64,${image}`
    return [
      ...results,
      {
        role: 'user',
        content: [
          { type: 'text', text },
          { type: 'image_url', image_url: { url } },
        ],
      },
    ]
  }
}

export const openaiChat: Caller = {
  name: 'openai chat completions',
  format: 'chat',
  words: { stop: 'stop', calls: 'tool_calls' },
  errors: openaiErrors,
  failure: openaiFailure,
  open: testServer => new ChatTalk(testServer),
}
