import type { Rule } from './rules.ts'
import { schemaFileOf } from './schema.ts'

/* Rules for all formats: HTTP, and the framing of streams. */

const HTTP_SPEC = 'https://www.rfc-editor.org/rfc/rfc9110'
const SSE_SPEC = 'https://html.spec.whatwg.org/multipage/server-sent-events.html'
const KIT_BOUNDS = "the kit's limits: client.ts"

type TransportRule = Omit<Rule, 'on'>

/** Rules for every answer. */
export const HTTP_RULES: readonly TransportRule[] = [
  { id: 'http.connect', level: 'must', source: HTTP_SPEC, says: 'The target accepts the connection and answers.' },
  { id: 'http.deadline', level: 'must', source: KIT_BOUNDS, says: 'The answer ends in time and has no long silences.' },
  {
    id: 'http.closed',
    level: 'must',
    source: `${HTTP_SPEC}#section-9.6`,
    says: 'The body is complete according to its framing.',
  },
  { id: 'http.too-large', level: 'must', source: KIT_BOUNDS, says: 'The answer is of a reasonable size.' },
  {
    id: 'http.coding',
    level: 'must',
    source: `${HTTP_SPEC}#section-8.4`,
    says: 'The body has the content coding that its header names.',
  },
  {
    id: 'http.status',
    level: 'must',
    source: HTTP_SPEC,
    says: 'The status is the one that the scenario expects: 200 or an error.',
  },
  { id: 'http.content-type', level: 'must', source: HTTP_SPEC, says: 'The content type matches the body.' },
]

/** Rules for every stream. */
export const SSE_RULES: readonly TransportRule[] = [
  {
    id: 'sse.utf8',
    level: 'must',
    source: SSE_SPEC,
    says: 'The stream is UTF-8, no matter how it is split into chunks.',
  },
  { id: 'sse.field', level: 'must', source: SSE_SPEC, says: 'Every line is a field of an event or a comment.' },
  { id: 'sse.unfinished', level: 'must', source: SSE_SPEC, says: 'An empty line ends every event.' },
  { id: 'sse.count', level: 'must', source: KIT_BOUNDS, says: 'The stream has a reasonable number of events.' },
  { id: 'sse.bom', level: 'should', source: SSE_SPEC, says: 'The stream has no byte order mark.' },
]

/** Returns the rule that a value is valid against the published schema. */
export const schemaRule = (format: string): TransportRule => ({
  id: 'schema',
  level: 'must',
  source: `conformance/schemas/${schemaFileOf(format)}`,
  says: 'The value is valid against the published schema of its format.',
})

/** Returns the rule on null and absent fields, which complements `schemaRule`. */
export const nullableRule = (format: string): TransportRule => ({
  id: 'schema.nullable',
  level: 'should',
  source: `conformance/schemas/${format}.json`,
  says: 'Required fields are present even if they are null, and optional fields are never null.',
})
