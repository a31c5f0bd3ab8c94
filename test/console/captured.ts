import { expect, vi } from 'vitest'
import { SOON } from '../builders/time.ts'
import type { ConsoleGateway } from './gateway.ts'

/** A request with many fields, some without an equivalent in other formats. */
export const ASKED = {
  model: 'replay',
  max_tokens: 300,
  top_k: 40,
  stream: true,
  metadata: { user_id: 'ada@example.org' },
  system: [
    {
      type: 'text',
      text: 'You are a careful assistant who answers in one sentence.',
      cache_control: { type: 'ephemeral' },
    },
  ],
  messages: [
    {
      role: 'user',
      content: [{ type: 'text', text: 'What is the weather in Paris?', cache_control: { type: 'ephemeral' } }],
    },
    {
      role: 'assistant',
      content: [{ type: 'tool_use', id: 'toolu_01', name: 'get_weather', input: { city: 'Paris', unit: 'celsius' } }],
    },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_01', content: '18 °C, clear' }] },
  ],
  tools: [
    {
      name: 'get_weather',
      description: 'The weather at a place',
      input_schema: {
        type: 'object',
        properties: { city: { type: 'string' }, unit: { type: 'string', enum: ['celsius', 'fahrenheit'] } },
      },
    },
  ],
}

export interface Sent {
  readonly id: string
  readonly status: number
}

/** A key with capture on, and functions that send requests with it. */
export async function capturing({ admin, address }: ConsoleGateway, name = 'claude-code-eve') {
  const key = (await admin.post('/keys', { name, capture: '1h' })).json
  const send = async (
    path: string,
    body: unknown,
    headers: { readonly [name: string]: string } = {},
  ): Promise<Sent> => {
    const answer = await fetch(address + path, {
      method: 'POST',
      headers: {
        ...{ authorization: `Bearer ${key.secret}`, 'content-type': 'application/json' },
        ...{ 'anthropic-version': '2023-06-01', 'user-agent': 'claude-cli/2.1.0 (external, cli)', ...headers },
      },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    })
    await answer.text()
    return { id: answer.headers.get('x-request-id')!, status: answer.status }
  }
  /** Waits until the list has a request with its capture. */
  const stored = (id: string): Promise<void> =>
    vi.waitFor(async () => {
      expect((await admin.get(`/requests/${id}`)).json.captured).toBe(true)
    }, SOON)
  return { id: key.id as string, name, secret: key.secret as string, send, stored }
}
