import type { Rule } from './rules.ts'
import { schemaFileOf } from './schema.ts'

/* Rules of every format: HTTP and the framing of streams. */

const HTTP = 'https://www.rfc-editor.org/rfc/rfc9110'
const SSE = 'https://html.spec.whatwg.org/multipage/server-sent-events.html'
const KIT = 'the bounds of the kit: client.ts'

type TransportRule = Omit<Rule, 'on'>

/** Rules of every answer. */
export const HTTP_RULES: readonly TransportRule[] = [
  { id: 'http.connect', level: 'must', source: HTTP, says: 'The target takes the connection and answers.' },
  { id: 'http.deadline', level: 'must', source: KIT, says: 'The answer ends in time, without long silences.' },
  { id: 'http.closed', level: 'must', source: `${HTTP}#section-9.6`, says: 'The body ends as its framing says.' },
  { id: 'http.too-large', level: 'must', source: KIT, says: 'The answer is of a reasonable size.' },
  { id: 'http.status', level: 'must', source: HTTP, says: 'The status is that of the scenario: 200, or its error.' },
  { id: 'http.content-type', level: 'must', source: HTTP, says: 'The content type is that of the body.' },
]

/** Rules of every stream. */
export const SSE_RULES: readonly TransportRule[] = [
  { id: 'sse.utf8', level: 'must', source: SSE, says: 'The stream is UTF-8, however it is split into chunks.' },
  { id: 'sse.field', level: 'must', source: SSE, says: 'Every line is a field of an event or a comment.' },
  { id: 'sse.unfinished', level: 'must', source: SSE, says: 'An empty line ends every event.' },
  { id: 'sse.count', level: 'must', source: KIT, says: 'The stream has a reasonable number of events.' },
  { id: 'sse.bom', level: 'should', source: SSE, says: 'The stream has no byte order mark.' },
]

/** Rule of every value: it is valid by the published schema. */
export const schemaRule = (format: string): TransportRule => ({
  id: 'schema',
  level: 'must',
  source: `conformance/schemas/${schemaFileOf(format)}`,
  says: 'The value is valid by the published schema of its format.',
})

/** Of every value, beside `schemaRule`: null is where it may be, and absence too. */
export const nullableRule = (format: string): TransportRule => ({
  id: 'schema.nullable',
  level: 'should',
  source: `conformance/schemas/${format}.json`,
  says: 'Required fields that may be null are there, and other fields are left out instead of null.',
})
