import { chat as chatWriter } from '../../egress/chat/index.ts'
import { contents as contentsWriter } from '../../egress/contents/index.ts'
import { messages as messagesWriter } from '../../egress/messages/index.ts'
import { responses as responsesWriter } from '../../egress/responses/index.ts'
import { chat as chatReader } from '../../ingress/chat/index.ts'
import { contents as contentsReader } from '../../ingress/contents/index.ts'
import { messages as messagesReader } from '../../ingress/messages/index.ts'
import { responses as responsesReader } from '../../ingress/responses/index.ts'
import type { Codec } from './codec.ts'

/** OpenAI's chat completions: `POST /v1/chat/completions`. */
export const chat: Codec = { name: 'chat', path: () => '/chat/completions', reader: chatReader, writer: chatWriter }

/** Anthropic's messages: `POST /v1/messages`. */
export const messages: Codec = {
  name: 'messages',
  path: () => '/v1/messages',
  reader: messagesReader,
  writer: messagesWriter,
}

/** OpenAI's Responses: `POST /v1/responses`. */
export const responses: Codec = {
  name: 'responses',
  path: () => '/responses',
  reader: responsesReader,
  writer: responsesWriter,
}

/**
 * Google's `generateContent` and `streamGenerateContent`. The path, not the body, names the model and selects a stream.
 */
export const contents: Codec = {
  name: 'contents',
  path: (model, stream) => `/v1beta/models/${model}:${stream ? 'streamGenerateContent' : 'generateContent'}`,
  reader: contentsReader,
  writer: contentsWriter,
}
