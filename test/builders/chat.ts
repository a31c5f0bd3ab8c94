import type { ServerResponse } from 'node:http'
import type { Script } from './upstream.ts'

/* The smallest complete requests and answers of a chat upstream. */

export const ASK = { model: 'm', messages: [{ role: 'user', content: 'Say hello.' }] }
export const STREAM = { ...ASK, stream: true }

export const ANSWER = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1_700_000_000,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello.', refusal: null }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 },
}

export const chunk = (delta: object, finish: string | null = null): string =>
  `data: ${JSON.stringify({
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1_700_000_000,
    model: 'm',
    choices: [{ index: 0, delta, finish_reason: finish }],
  })}\n\n`

export const HEAD = chunk({ role: 'assistant', content: '' })
export const TAIL = `${chunk({}, 'stop')}data: [DONE]\n\n`
export const words = (...said: string[]): string => said.map(content => chunk({ content })).join('')

export const json = (response: ServerResponse, value: unknown, status = 200, headers = {}): void =>
  void response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value))

export const events = (response: ServerResponse): ServerResponse =>
  response.writeHead(200, { 'content-type': 'text/event-stream' })

export const failure = (message: string, fields = {}) => ({
  error: { message, type: 'some_error', param: null, code: null, ...fields },
})

/** Answers whole, whatever the request. */
export const helloWhole: Script = response => json(response, ANSWER)

/** Answers whole or as a stream, as requested. */
export const hello: Script = (response, seen) =>
  JSON.parse(seen.text).stream === true
    ? events(response).end(`${HEAD}${words('Hel', 'lo.')}${TAIL}`)
    : json(response, ANSWER)
