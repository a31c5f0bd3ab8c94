import type { JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { WireRequest } from '../../canonical/wire.ts'
import { readValidated } from '../errors/validation-error.ts'
import { count, defined, flag, list, required, rest, spelling, text, texts, WrongType } from '../fields.ts'
import { fieldsOf, readDocument } from './documents.ts'
import * as wire from './wire.ts'

const FORMAT = 'rerank'

/** The vendor whose answers the caller expects at a path that three vendors share. */
type Style = 'jina' | 'cohere' | 'voyage'

/** `POST /v1/rerank` (FORMATS §9) as a canonical request. */
export const readRequest = ({ body, headers }: WireRequest): CanonicalRequest =>
  readValidated(wire.request, body, () => read(body, styleOf(headers, body)))

const TAKEN = new Set(['model', 'query', 'documents', 'top_n', 'top_k', 'return_documents', 'rank_fields'])

function read(body: JsonObject, style: Style): CanonicalRequest {
  const fields = texts(body['rank_fields'])
  const counting = fieldsOf(fields)
  const documents = required(list(body['documents']))
  if (documents.length === 0) throw WrongType.instance
  const usual = count(body['top_n'])
  const other = count(body['top_k'])
  const echo = flag(body['return_documents'])
  const spelt = spelling({
    style,
    top: usual === undefined && other !== undefined ? 'top_k' : undefined,
    echo: echo === undefined ? 'default' : undefined,
    rank_fields: fields,
  })
  return {
    model: required(text(body['model'])),
    messages: documents.map(document => ({ role: 'user', content: readDocument(document, counting) })),
    output: {
      ranking: {
        query: required(text(body['query'])),
        ...defined({ top: usual ?? other }),
        echo: echo ?? style === 'jina',
      },
    },
    sampling: {},
    stream: false,
    ...rest(FORMAT, body, TAKEN, spelt, usual === undefined ? [] : ['top_k']),
  }
}

/**
 * Cohere's and Voyage's clients name themselves, and only Voyage's send `top_k`; any other client gets Jina's shape,
 * which returns the documents unless the request turns that off (FORMATS §9).
 */
function styleOf(headers: WireRequest['headers'], body: JsonObject): Style {
  const client = headers['x-fern-sdk-name'] ?? headers['user-agent'] ?? ''
  if (/^cohere\b/i.test(client)) return 'cohere'
  return /^voyage/i.test(client) || Object.hasOwn(body, 'top_k') ? 'voyage' : 'jina'
}
