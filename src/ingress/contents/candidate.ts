import type { CallIds } from '../../canonical/call-ids.ts'
import type { Part, RefusalPart, TextPart } from '../../canonical/content.ts'
import type { CandidateEnd, CanonicalEvent } from '../../canonical/event.ts'
import { isObject, type Json, type JsonObject, type Node } from '../../canonical/node.ts'
import type { Candidate, Finish, FinishReason, TokenLogprob } from '../../canonical/result.ts'
import { anyNumber, anyObject, anyObjects, anyText, defined, put } from '../fields.ts'
import { citationsOf, type LocatedCitation, readCitations, readGrounding, TextRanges } from './citations.ts'
import { CONTENT, contentsExtras, type Extras, FORMAT, inCamelCase } from './fields.ts'
import { readPartLeniently } from './parts.ts'
import { readSearch } from './search.ts'
import { pairSignatures } from './signatures.ts'
import { StreamedGrounding } from './streamed-grounding.ts'

/** Fields that are read from a candidate. All others become extras. */
export const CANDIDATE: ReadonlySet<string> = new Set([
  ...['index', 'content', 'finishReason', 'finishMessage', 'groundingMetadata', 'citationMetadata', 'logprobsResult'],
])
const KNOWN_FIELDS = new Set([
  'index',
  'content',
  'finishReason',
  'finishMessage',
  'groundingMetadata',
  'logprobsResult',
])

/** Reads one candidate of a whole answer. */
export function readCandidate(wire: JsonObject, ids: CallIds): Candidate {
  const fields = inCamelCase(wire, CANDIDATE)
  const content = anyObject(fields['content'])
  const inside = content && inCamelCase(content, CONTENT)
  const parts = pairSignatures(anyObjects(inside?.['parts']).flatMap(part => readPartLeniently(part, ids)))
  const citations = citationsIn(fields, parts)
  const hasCalls = parts.some(part => part.type === 'tool-call')
  const { finish, wireReason } = readFinish(anyText(fields['finishReason']), hasCalls)
  const refusal = refusalOf(finish, fields['finishMessage'])
  const logprobs = readLogprobs(fields['logprobsResult'])
  const unreadFields = [
    ...(citations.complete ? [] : ['groundingMetadata']),
    ...(logprobs === undefined ? ['logprobsResult'] : []),
    ...(content === undefined ? ['content'] : []),
    ...(refusal === undefined ? ['finishMessage'] : []),
  ]
  const { extras } = contentsExtras(
    fields,
    KNOWN_FIELDS,
    { content: inside && contentsExtras(inside, CONTENT) },
    unreadFields,
  )
  const spelling = spellingOf(wireReason, citations.complete ? fields['groundingMetadata'] : undefined)
  const search = readSearch(fields['groundingMetadata'])
  const annotatedParts = withCitations(parts, citations.all)
  const trailing = refusal === undefined ? search : [...search, refusal]
  return {
    content: trailing.length === 0 ? annotatedParts : [...annotatedParts, ...trailing],
    finish,
    ...defined({ logprobs, extras, spelling }),
  }
}

/**
 * Returns the spelling that a stream of this format needs: a finish reason other than the default of its kind, and
 * grounding metadata that is completely represented by citations and searches.
 */
function spellingOf(finishReason: string | undefined, grounding: Json | undefined): Node['spelling'] {
  if (finishReason === undefined && grounding == null) return undefined
  const marks = { finishReason, groundingMetadata: grounding ?? undefined }
  return { [FORMAT]: defined(marks) as JsonObject }
}

/** The citations in a candidate's metadata. */
interface FoundCitations {
  readonly all: readonly LocatedCitation[]
  /** True if the grounding metadata contains only citations and a search. */
  readonly complete: boolean
}

const NO_CITATIONS: FoundCitations = { all: [], complete: true }

/**
 * Reads the citations in a candidate's fields. Their offsets are relative to `parts`, or to the concatenated text of
 * all parts.
 */
export function citationsIn(fields: JsonObject, parts: readonly Part[] | TextRanges): FoundCitations {
  const grounding = anyObject(fields['groundingMetadata'])
  const citations = anyObject(fields['citationMetadata'])
  if (grounding === undefined && citations === undefined) return NO_CITATIONS
  const ranges = parts instanceof TextRanges ? parts : new TextRanges(textOf(parts))
  const groundingCitations = grounding && readGrounding(grounding, ranges)
  return {
    all: [
      ...(groundingCitations?.citations ?? []),
      ...(citations === undefined ? [] : readCitations(citations, ranges)),
    ],
    complete: groundingCitations?.complete ?? true,
  }
}

const textOf = (parts: readonly Part[]): string => parts.map(part => (part.type === 'text' ? part.text : '')).join('')

/** Adds each citation to the text part that contains it. Citations without offsets are added to the last text part. */
function withCitations(parts: readonly Part[], citations: readonly LocatedCitation[]): readonly Part[] {
  if (citations.length === 0) return parts
  let from = 0
  const texts = parts.flatMap(part => {
    if (part.type !== 'text') return []
    const { length } = part.text
    const range = { from, length }
    from += length
    return [range]
  })
  const citationsByText = citationsOf(citations, texts)
  let index = 0
  return parts.map(part => {
    const annotations = part.type === 'text' ? citationsByText.get(index++) : undefined
    return annotations === undefined ? part : ({ ...(part as TextPart), annotations } satisfies TextPart)
  })
}

/**
 * Collects a candidate's fields other than its parts from all events of a stream. The last value of a field is used.
 */
export class CandidateFacts {
  private readonly index: number
  private reason: string | undefined
  private readonly fields: { [field: string]: Json } = {}
  private readonly grounding = new StreamedGrounding()

  constructor(index: number) {
    this.index = index
  }

  get finished(): boolean {
    return this.reason !== undefined
  }

  add(field: string, value: Json, out: CanonicalEvent[]): void {
    if (value === null) return
    if (field === 'finishReason') {
      if (typeof value === 'string' && value !== '') this.reason = value
      return
    }
    if (field === 'groundingMetadata' && isObject(value)) {
      this.grounding.add(value)
      return
    }
    const append = field === 'logprobsResult' ? readLogprobs(value) : undefined
    if (append === undefined) put(this.fields, field, value)
    else if (append.length > 0) out.push({ type: 'logprobs', candidate: this.index, append })
  }

  /** The web search in the grounding metadata. */
  get search(): readonly Part[] {
    return readSearch(this.groundingMetadata)
  }

  private get groundingMetadata(): Json | undefined {
    return this.grounding.joined ?? this.fields['groundingMetadata']
  }

  /** Removes the message of a refusal and returns it as a part. */
  takeRefusal(): RefusalPart | undefined {
    const refusal = refusalOf(readFinish(this.reason, false).finish, this.fields['finishMessage'])
    if (refusal !== undefined) delete this.fields['finishMessage']
    return refusal
  }

  /**
   * Returns the event that ends the candidate.
   * @param text all text of the candidate.
   * @param hasCalls true if the candidate made tool calls.
   */
  ended(text: string, hasCalls: boolean): CandidateEnd {
    const { finish, wireReason } = readFinish(this.reason, hasCalls)
    const { groundingMetadata: _, ...others } = this.fields
    const { groundingMetadata } = this
    const fields = groundingMetadata === undefined ? others : { ...others, groundingMetadata }
    const isCited = isObject(groundingMetadata) && citationsIn(fields, new TextRanges(text)).complete
    const extras = isCited ? others : fields
    return {
      type: 'candidate-end',
      candidate: this.index,
      finish,
      ...(Object.keys(extras).length === 0 ? {} : { extras: { [FORMAT]: extras } }),
      ...defined({ spelling: spellingOf(wireReason, isCited ? groundingMetadata : undefined) }),
    }
  }
}

/** Finish reasons by wire value (docs/wire/contents.md#finish-reasons, trap 15). */
const REASONS: { readonly [value: string]: FinishReason } = {
  STOP: 'stop',
  MAX_TOKENS: 'length',
  ...reasonEntries(
    'refused',
    'SAFETY',
    'RECITATION',
    'LANGUAGE',
    'BLOCKLIST',
    'PROHIBITED_CONTENT',
    'SPII',
    'MODEL_ARMOR',
  ),
  ...reasonEntries('refused', 'IMAGE_SAFETY', 'IMAGE_PROHIBITED_CONTENT', 'IMAGE_OTHER', 'IMAGE_RECITATION'),
  ...reasonEntries(
    'error',
    'MALFORMED_FUNCTION_CALL',
    'MALFORMED_RESPONSE',
    'UNEXPECTED_TOOL_CALL',
    'TOO_MANY_TOOL_CALLS',
  ),
  ...reasonEntries('error', 'MISSING_THOUGHT_SIGNATURE', 'ESCALATION', 'OTHER'),
  CONTINUATION: 'paused',
}

function reasonEntries(reason: FinishReason, ...values: string[]): { [value: string]: FinishReason } {
  return Object.fromEntries(values.map(value => [value, reason]))
}

/** Wire value that the writer uses for each reason. Other values are recorded as spelling. */
const VALUES: { readonly [R in FinishReason]?: string } = {
  ...{ stop: 'STOP', 'tool-calls': 'STOP', length: 'MAX_TOKENS', refused: 'SAFETY' },
  ...{ paused: 'CONTINUATION', error: 'OTHER', other: 'FINISH_REASON_UNSPECIFIED' },
}

/** Reads the finish reason. Google sends STOP even after calls (trap 13). A missing reason becomes `other`. */
function readFinish(value: string | undefined, hasCalls: boolean): { finish: Finish; wireReason: string | undefined } {
  if (value === undefined) return { finish: { reason: 'other' }, wireReason: 'absent' }
  const known = Object.hasOwn(REASONS, value) ? REASONS[value]! : 'other'
  const reason = known === 'stop' && hasCalls ? 'tool-calls' : known
  return { finish: { reason, raw: value }, wireReason: VALUES[reason] === value ? undefined : value }
}

/** Reads the message of a refusal as a part. Messages of other finishes become extras. */
const refusalOf = ({ reason }: Finish, message: Json | undefined): RefusalPart | undefined =>
  reason === 'refused' && typeof message === 'string' && message !== '' ? { type: 'refusal', text: message } : undefined

const RESULT = new Set(['chosenCandidates', 'topCandidates'])
const TOKEN = new Set(['token', 'logProbability'])
const STEP = new Set(['candidates'])

/** Reads the chosen tokens, each with its alternatives. Returns undefined if the value is not a list. */
function readLogprobs(wire: Json | undefined): readonly TokenLogprob[] | undefined {
  if (!isObject(wire)) return undefined
  const fields = inCamelCase(wire, RESULT)
  if (!Array.isArray(fields['chosenCandidates'])) return undefined
  const steps = anyObjects(fields['topCandidates'])
  return anyObjects(fields['chosenCandidates']).map((token, index) => {
    const step = steps[index]
    const top = step && anyObjects(inCamelCase(step, STEP)['candidates']).map(readToken)
    return top === undefined ? readToken(token) : { ...readToken(token), top }
  })
}

function readToken(wire: JsonObject): TokenLogprob {
  const fields = inCamelCase(wire, TOKEN)
  const token = anyText(fields['token']) ?? ''
  return {
    token,
    logprob: anyNumber(fields['logProbability']) ?? 0,
    ...(contentsExtras(fields, TOKEN) satisfies Extras),
  }
}
