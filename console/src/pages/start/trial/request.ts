import type { Format } from '../clients/client.ts'

/** Path and body of a request. */
export interface TrialRequest {
  readonly path: string
  readonly body: { readonly [name: string]: unknown }
}

/** Builds a request with one prompt in a format. */
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

/** Encodes a model id for a path, but keeps its slashes. */
const inPath = (model: string): string => encodeURIComponent(model).replaceAll('%2F', '/')
