import { type JsonObject, listOf, numberOf } from '../../json.ts'
import { type Rule, type Violation, Violations } from '../../rules.ts'
import { documentFacts, ranksIn } from './facts.ts'

/* Rules of rankings, with what the vendors differ in. */

export interface Vendor {
  /** The page of the request and of the answer. */
  readonly page: string
  /** The field for the number of ranks, and the name that other vendors have for it. */
  readonly top: 'top_n' | 'top_k'
  readonly otherTop: 'top_n' | 'top_k'
  /** Whether documents are returned by default; `undefined` where they never are. */
  readonly returns: boolean | undefined
}

export const rulesOf = ({ page, top, returns }: Vendor): Rule[] => [
  {
    ...{ id: 'top-field', on: 'request', level: 'must', source: page },
    says: `The number of ranks is in ${top}.`,
  },
  { id: 'documents-present', on: 'request', level: 'must', source: page, says: 'There are documents to rank.' },
  { id: 'sorted', on: 'answer', level: 'must', source: page, says: 'The highest score comes first.' },
  {
    ...{ id: 'index', on: 'answer', level: 'must', source: page },
    says: 'The index of a rank is that of a document of the request, and comes once.',
  },
  {
    ...{ id: 'count', on: 'answer', level: 'must', source: page },
    says: 'There are as many ranks as were requested, or as there are documents.',
  },
  {
    ...{ id: 'documents', on: 'answer', level: 'must', source: page },
    says:
      returns === undefined
        ? 'The ranks have no documents.'
        : 'The ranks have their documents where they were requested, and only there.',
  },
]

export function requestLint(body: JsonObject, { otherTop }: Vendor): readonly Violation[] {
  const violations = new Violations()
  if (body[otherTop] !== undefined) violations.add('top-field', `There is a field ${otherTop}.`)
  if (listOf(body['documents']).length === 0) violations.add('documents-present', 'There are no documents.')
  return violations.list
}

export function answerLint(body: JsonObject, asked: JsonObject, vendor: Vendor): readonly Violation[] {
  const violations = new Violations()
  const documents = listOf(asked['documents'])
  const ranks = ranksIn(body)
  const scores = ranks.map(rank => numberOf(rank['relevance_score']) ?? Number.NaN)
  if (scores.some((score, at) => at > 0 && !(score <= scores[at - 1]!)))
    violations.add('sorted', `The scores are ${JSON.stringify(scores.slice(0, 20))}.`)
  const indexes = ranks.map(rank => numberOf(rank['index']))
  if (new Set(indexes).size < indexes.length || indexes.some(at => at === undefined || documents[at] === undefined))
    violations.add('index', `The indexes are ${JSON.stringify(indexes.slice(0, 20))}.`)
  const count = Math.min(numberOf(asked[vendor.top]) ?? documents.length, documents.length)
  if (ranks.length !== count) violations.add('count', `There are ${ranks.length} ranks, not ${count}.`)
  checkDocuments(ranks, asked, vendor, violations)
  return violations.list
}

function checkDocuments(ranks: readonly JsonObject[], asked: JsonObject, { returns }: Vendor, violations: Violations) {
  const documents = listOf(asked['documents'])
  const isWanted = returns !== undefined && (asked['return_documents'] ?? returns) === true
  for (const [position, { index, document }] of ranks.entries()) {
    const has = document !== undefined && document !== null
    if (has !== isWanted) violations.add('documents', `Rank ${position} has ${has ? 'a' : 'no'} document.`)
    const { text } = documentFacts(documents[numberOf(index) ?? -1])
    const { text: returned } = documentFacts(document)
    if (has && text !== undefined && returned !== undefined && returned !== text)
      violations.add('documents', `Rank ${position} has the document ${JSON.stringify(returned).slice(0, 200)}.`)
  }
}
