import type { CallIds } from '../../canonical/call-ids.ts'
import type { Citation, Part, TextPart } from '../../canonical/content.ts'
import type { JsonObject } from '../../canonical/node.ts'
import type { Candidate } from '../../canonical/result.ts'
import { anyObject, anyObjects, anyText, defined } from '../fields.ts'
import { type Cited, citationsOf, Places, readCitations, readGrounding } from './citations.ts'
import { nodeOf, open, remainsOf } from './fields.ts'
import { readFinish, refusalOf } from './finish.ts'
import { readLogprobs } from './logprobs.ts'
import { readPartLeniently } from './parts.ts'
import { paired } from './proofs.ts'

/** Fields of a candidate that are read; any other becomes an extra. */
export const CANDIDATE: ReadonlySet<string> = new Set([
  ...['index', 'content', 'finishReason', 'finishMessage', 'groundingMetadata', 'citationMetadata', 'logprobsResult'],
])
const TAKEN = new Set(['index', 'content', 'finishReason', 'finishMessage', 'groundingMetadata', 'logprobsResult'])
const CONTENT = new Set(['role', 'parts'])

/** One candidate of a whole answer. */
export function readCandidate(wire: JsonObject, position: number, ids: CallIds): Candidate {
  const opened = open(wire, CANDIDATE)
  const { fields } = opened
  const content = anyObject(fields['content'])
  const inside = open(content ?? {}, CONTENT)
  const wires = Array.isArray(inside.fields['parts']) ? anyObjects(inside.fields['parts']) : undefined
  const parts = paired((wires ?? []).flatMap(part => readPartLeniently(part, ids)))
  const cited = citedBy(fields, new Places(textOf(parts)))
  const called = parts.some(part => part.type === 'tool-call')
  const { finish, spelt } = readFinish(anyText(fields['finishReason']), called)
  const refusal = refusalOf(finish, fields['finishMessage'])
  const logprobs = readLogprobs(fields['logprobsResult'])
  const refused = [
    ...(cited.complete ? [] : ['groundingMetadata']),
    ...(logprobs === undefined ? ['logprobsResult'] : []),
    ...(content === undefined ? ['content'] : []),
    ...(refusal === undefined ? ['finishMessage'] : []),
  ]
  const role = inside.fields['role']
  const remains = remainsOf(
    opened,
    TAKEN,
    {
      index: fields['index'] === position ? undefined : (fields['index'] ?? 'absent'),
      finishReason: spelt,
      groundingMetadata: cited.complete ? (fields['groundingMetadata'] ?? undefined) : undefined,
      logprobsResult: logprobs === undefined ? undefined : fields['logprobsResult']!,
      content: content === undefined ? 'absent' : undefined,
    },
    {
      content: remainsOf(inside, CONTENT, {
        role: role === 'model' ? undefined : (role ?? 'absent'),
        parts: wires === undefined ? 'absent' : undefined,
      }),
    },
    refused,
  )
  const annotatedParts = annotated(parts, cited.all)
  return {
    content: refusal === undefined ? annotatedParts : [...annotatedParts, refusal],
    finish,
    ...defined({ logprobs }),
    ...nodeOf(remains),
  }
}

const textOf = (parts: readonly Part[]): string => parts.map(part => (part.type === 'text' ? part.text : '')).join('')

export interface CitedBy {
  readonly all: readonly Cited[]
  /** Whether the grounding metadata contains no more than its citations. */
  readonly complete: boolean
}

/** The citations in a candidate's fields. */
export function citedBy(fields: JsonObject, places: Places): CitedBy {
  const grounding = anyObject(fields['groundingMetadata'])
  const citations = anyObject(fields['citationMetadata'])
  const grounded = grounding && readGrounding(grounding, places)
  return {
    all: [...(grounded?.cited ?? []), ...(citations === undefined ? [] : readCitations(citations, places))],
    complete: grounded?.complete ?? true,
  }
}

/** Each text with the citations that fall into it; those without offsets go to the last. */
function annotated(parts: readonly Part[], cited: readonly Cited[]): readonly Part[] {
  if (cited.length === 0) return parts
  let from = 0
  const texts = parts.flatMap(part => {
    if (part.type !== 'text') return []
    const { length } = part.text
    const range = { from, length }
    from += length
    return [range]
  })
  const citations = citationsOf(cited, texts).values()
  return parts.map(part => {
    if (part.type !== 'text') return part
    const annotations: readonly Citation[] = citations.next().value!
    return annotations.length === 0 ? part : ({ ...part, annotations } satisfies TextPart)
  })
}
