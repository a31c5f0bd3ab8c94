import { type JsonObject, listOf, numberOf } from '../../json.ts'
import { type Rule, type Violation, Violations } from '../../rules.ts'
import { documentFacts, ranksIn } from './facts.ts'

/* Rules of rankings, adapted to each vendor. */

export interface Vendor {
  /** Documentation page of the request and the answer. */
  readonly page: string
  /** Name of the field for the number of ranks, and the name that other vendors use. */
  readonly top: 'top_n' | 'top_k'
  readonly otherTop: 'top_n' | 'top_k'
  /** True if documents are returned by default, or undefined if they are never returned. */
  readonly returns: boolean | undefined
}

export const rulesOf = ({ page, top, returns }: Vendor): Rule[] => [
  {
    ...{ id: 'top-field', on: 'request', level: 'must', source: page },
    says: `The number of ranks is stated in ${top}.`,
  },
  { id: 'documents-present', on: 'request', level: 'must', source: page, says: 'The request has documents to rank.' },
  { id: 'sorted', on: 'answer', level: 'must', source: page, says: 'The highest score comes first.' },
  {
    ...{ id: 'index', on: 'answer', level: 'must', source: page },
    says: 'The index of each rank refers to a document of the request, and no index is repeated.',
  },
  {
    ...{ id: 'count', on: 'answer', level: 'must', source: page },
    says: 'The number of ranks is the requested number or the number of documents.',
  },
  {
    ...{ id: 'documents', on: 'answer', level: 'must', source: page },
    says:
      returns === undefined
        ? 'Ranks do not include documents.'
        : 'Ranks include their documents if and only if they were requested.',
  },
]

export function requestLint(body: JsonObject, { otherTop }: Vendor): readonly Violation[] {
  const violations = new Violations()
  if (body[otherTop] !== undefined) violations.add('top-field', `The request has a field ${otherTop}.`)
  if (listOf(body['documents']).length === 0) violations.add('documents-present', 'The request has no documents.')
  return violations.list
}

export function answerLint(body: JsonObject, request: JsonObject, vendor: Vendor): readonly Violation[] {
  const violations = new Violations()
  const documents = listOf(request['documents'])
  const ranks = ranksIn(body)
  const scores = ranks.map(rank => numberOf(rank['relevance_score']) ?? Number.NaN)
  if (scores.some((score, at) => at > 0 && !(score <= scores[at - 1]!)))
    violations.add('sorted', `The scores are ${JSON.stringify(scores.slice(0, 20))}.`)
  const indexes = ranks.map(rank => numberOf(rank['index']))
  if (new Set(indexes).size < indexes.length || indexes.some(at => at === undefined || documents[at] === undefined))
    violations.add('index', `The indexes are ${JSON.stringify(indexes.slice(0, 20))}.`)
  const count = Math.min(numberOf(request[vendor.top]) ?? documents.length, documents.length)
  if (ranks.length !== count) violations.add('count', `The answer has ${ranks.length} ranks instead of ${count}.`)
  checkDocuments(ranks, request, vendor, violations)
  return violations.list
}

function checkDocuments(
  ranks: readonly JsonObject[],
  request: JsonObject,
  { returns }: Vendor,
  violations: Violations,
) {
  const documents = listOf(request['documents'])
  const isWanted = returns !== undefined && (request['return_documents'] ?? returns) === true
  for (const [position, { index, document }] of ranks.entries()) {
    const has = document !== undefined && document !== null
    if (has !== isWanted) violations.add('documents', `Rank ${position} has ${has ? 'a' : 'no'} document.`)
    const { text } = documentFacts(documents[numberOf(index) ?? -1])
    const { text: returned } = documentFacts(document)
    if (has && text !== undefined && returned !== undefined && returned !== text)
      violations.add('documents', `Rank ${position} has the document ${JSON.stringify(returned).slice(0, 200)}.`)
  }
}
