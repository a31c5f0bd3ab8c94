import type { Format } from '../clients/client.ts'

/** A request of one format: where it goes below the gateway's address, and what it is. */
export interface TrialRequest {
  readonly path: string
  readonly body: { readonly [name: string]: unknown }
}

/** A question to a model, in the words of the format. */
export function requestOf(format: Format, model: string, prompt: string, stream: boolean): TrialRequest {
  const { path, body } = WRITERS[format](model, prompt, stream)
  return { path, body: format === 'contents' || !stream ? body : { ...body, stream: true } }
}

type Writer = (model: string, prompt: string, stream: boolean) => TrialRequest

const turns = (content: string) => [{ role: 'user', content }]

const WRITERS: { readonly [F in Format]: Writer } = {
  chat: (model, prompt) => ({ path: '/v1/chat/completions', body: { model, messages: turns(prompt) } }),
  responses: (model, prompt) => ({ path: '/v1/responses', body: { model, input: prompt } }),
  messages: (model, prompt) => ({ path: '/v1/messages', body: { model, max_tokens: 1024, messages: turns(prompt) } }),
  contents: (model, prompt, stream) => ({
    path: `/v1beta/models/${inPath(model)}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    body: { contents: [{ role: 'user', parts: [{ text: prompt }] }] },
  }),
}

/** Names of models may have slashes, which stay. */
const inPath = (model: string): string => encodeURIComponent(model).replaceAll('%2F', '/')
