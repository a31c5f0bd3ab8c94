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

type Item = OpenAI.Responses.ResponseInputItem

const CALLS = new Set(['function_call', 'custom_tool_call'])

class ResponsesTalk implements Talk {
  private readonly client: OpenAI
  private readonly model: string
  private readonly history: Item[] = []
  private pending: readonly string[] = []

  constructor({ address, key, model = 'm', retries = 0, headers = {} }: TestServer) {
    this.client = new OpenAI({ baseURL: `${address}/v1`, apiKey: key, maxRetries: retries, defaultHeaders: headers })
    this.model = model
  }

  async say(turn: Turn, ask: Ask): Promise<Got> {
    this.history.push(...this.itemsOf(turn))
    const body = {
      model: this.model,
      instructions: RULES,
      input: this.history,
      max_output_tokens: LIMIT,
      store: false,
      include: ['reasoning.encrypted_content' as const],
      ...(ask.tools ? { tools: TOOLS.map(tool => ({ type: 'function' as const, strict: false, ...tool })) } : {}),
      ...(ask.thinks ? { reasoning: { effort: 'high' as const, summary: 'auto' as const } } : {}),
      ...(ask.schema
        ? { text: { format: { type: 'json_schema' as const, name: 'answer', schema: SCHEMA, strict: true } } }
        : {}),
    }
    const options = ask.signal === undefined ? {} : { signal: ask.signal }
    const response = ask.stream
      ? await this.streamed(body, ask, options)
      : await this.client.responses.create(body, options)
    this.history.push(...(response.output as Item[]))
    const calls = response.output.filter((item: Loose) => CALLS.has(item.type)) as Loose[]
    this.pending = calls.map(({ call_id }) => call_id)
    return {
      text: response.output
        .flatMap((item: Loose) => (item.type === 'message' ? item.content : []))
        .map((part: Loose) => part.text ?? '')
        .join(''),
      thought: response.output
        .flatMap(item =>
          item.type === 'reasoning' ? [...item.summary, ...(item.content ?? [])].map(({ text }) => text) : [],
        )
        .join('\n\n'),
      calls: calls.map(call => ({ name: call.name, arguments: parsed(call.arguments ?? call.input) })),
      finish: response.status,
      input: response.usage?.input_tokens,
      output: response.usage?.output_tokens,
    }
  }

  /** Uses the client's own collector, which also checks the order of events. */
  private async streamed(body: Loose, { onText }: Ask, options: object) {
    const stream = this.client.responses.stream(body, options)
    for await (const event of stream) {
      if (event.type === 'response.output_text.delta') onText?.()
      // The client returns this event like any other.
      if (event.type === 'response.failed')
        throw new OpenAI.APIError(undefined, event.response.error!, undefined, undefined)
    }
    return stream.finalResponse()
  }

  private itemsOf({ text, image, outputs = [] }: Turn): Item[] {
    const results = outputs.map((output, index) => ({
      type: 'function_call_output' as const,
      call_id: this.pending[index]!,
      output: JSON.stringify(output),
    }))
    if (text === undefined) return results
    if (image === undefined) return [...results, { role: 'user', content: text }]
    const image_url = `data:image/png;base64,${image}`
    const content: Loose = [
      { type: 'input_text', text },
      { type: 'input_image', image_url, detail: 'auto' },
    ]
    return [...results, { role: 'user', content }]
  }
}

export const openaiResponses: Caller = {
  name: 'openai responses',
  format: 'responses',
  words: { stop: 'completed', calls: 'completed' },
  errors: openaiErrors,
  failure: openaiFailure,
  open: testServer => new ResponsesTalk(testServer),
}
