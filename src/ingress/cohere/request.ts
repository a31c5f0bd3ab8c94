import type { JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { WireRequest } from '../../canonical/wire.ts'
import { readValidated } from '../errors/validation-error.ts'
import { count, defined, required, rest, text, texts, WrongType } from '../fields.ts'
import { readEmbed } from './embed.ts'
import * as wire from './wire.ts'

const FORMAT = 'cohere'

/** `POST /v2/rerank` or `/v2/embed` (FORMATS §8, §9) as a canonical request. */
export const readRequest = (incoming: WireRequest): CanonicalRequest =>
  readValidated(wire.requestAt(incoming), incoming.body, () =>
    wire.isEmbed(incoming) ? readEmbed(incoming.body) : readRerank(incoming.body),
  )

const TAKEN = new Set(['model', 'query', 'documents', 'top_n'])

/** This version never returns the documents. */
function readRerank(body: JsonObject): CanonicalRequest {
  const documents = required(texts(body['documents']))
  const top = count(body['top_n'])
  if (documents.length === 0) throw WrongType.instance
  return {
    model: required(text(body['model'])),
    messages: documents.map(text => ({ role: 'user', content: [{ type: 'text', text }] })),
    output: { ranking: { query: required(text(body['query'])), ...defined({ top }), echo: false } },
    sampling: {},
    stream: false,
    ...rest(FORMAT, body, TAKEN),
  }
}
