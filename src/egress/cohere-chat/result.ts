import { AnswerIds } from '../../canonical/call-ids.ts'
import type { Annotation, Part, ReasoningPart, TextPart, ToolCallPart } from '../../canonical/content.ts'
import { foreignLosses, Losses, type Path, type Written } from '../../canonical/loss.ts'
import { defined, type JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import { type Candidate, type CanonicalResult, endContentOf } from '../../canonical/result.ts'
import type { WireAnswer } from '../../canonical/wire.ts'
import { extrasFor } from '../fields.ts'
import { nativeBodyOf } from '../native.ts'
import { NO_BYTES, NO_TASK, NO_TIMES } from '../sanitize/unwritten.ts'
import { argumentsOf, callWith, isEmpty, type Lane, laneOf, reportPart, writeFinish, writeLogprob } from './answer.ts'
import { type CitedText, reportFilled, writeCitation } from './citations.ts'
import { FORMAT } from './context.ts'
import { writeUsage } from './usage.ts'

/** Field of the answer's id, used when a native body is reused. The format's answers state no model. */
const NATIVE_HEAD = { id: 'id' } as const

const NO_ANSWER: Candidate = { content: [] }

const CONTENT_PATH: Path = ['candidates', 0, 'content']

/** Writes a unary answer (docs/wire/cohere-chat.md#answer). */
export function writeResult(result: CanonicalResult, request: CanonicalRequest): Written<WireAnswer> {
  const losses = new Losses()
  const body = nativeBodyOf(result, FORMAT, NATIVE_HEAD) ?? writeBody(result, request, losses)
  return { wire: { status: 200, headers: {}, body }, losses: losses.list }
}

function writeBody(result: CanonicalResult, request: CanonicalRequest, losses: Losses): JsonObject {
  losses.report(foreignLosses(result, FORMAT))
  reportHead(result, losses)
  const [candidate = NO_ANSWER] = result.candidates
  const { usage } = result
  const message = new MessageWriter(losses, request)
  const parts = placedParts(candidate.content, CONTENT_PATH)
  for (const one of parts) message.addPart(one)
  reportOrder(parts, CONTENT_PATH, losses)
  return defined({
    id: result.id,
    message: message.written(candidate),
    finish_reason: writeFinish(candidate.finish, endContentOf(candidate), losses),
    usage: writeUsage(usage, losses),
    logprobs: candidate.logprobs?.map(writeLogprob),
    ...extrasFor(result, FORMAT),
  }) as JsonObject
}

/** Reports fields outside the answer's content that the format lacks. */
function reportHead(result: CanonicalResult, losses: Losses): void {
  const { candidates } = result
  for (const field of ['model', 'createdAt'] as const)
    if (result[field] !== undefined) losses.dropRestored([field], 'not-in-answers')
  if (result.serviceTier !== undefined) losses.drop(['serviceTier'], 'no-tiers')
  losses.dropFields(result, [], NO_TASK)
  if (candidates.length === 0) losses.insert(['candidates', 0], NO_ANSWER, 'one-answer-always')
  for (let index = 1; index < candidates.length; index++) losses.drop(['candidates', index], 'one-answer-only')
  losses.dropFields(candidates[0], ['candidates', 0], NO_TIMES)
  for (const [index, one] of (candidates[0]?.logprobs ?? []).entries())
    losses.dropFields(one, ['candidates', 0, 'logprobs', index], LOGPROB_LOSSES)
}

const LOGPROB_LOSSES = { ...NO_BYTES, top: 'chosen-tokens-only' }

/** Order in which readers read the fields of a message. */
const FIELD_RANKS: { readonly [L in Lane]: number } = {
  text: 0,
  thinking: 0,
  block: 0,
  plan: 1,
  call: 2,
  'opaque-call': 2,
}

/** A part of an answer and the field to which it is written. */
interface PlacedPart {
  readonly part: Part
  readonly path: Path
  readonly lane: Lane | undefined
}

/** Chooses the field of each part. A message has at most one plan. */
function placedParts(content: readonly Part[], at: Path): readonly PlacedPart[] {
  const lanes = content.map(laneOf)
  const plan = content.findIndex((part, index) => lanes[index] === 'plan' && !isEmpty(part))
  return content.map((part, index): PlacedPart => {
    const lane = lanes[index]
    return { part, path: [...at, index], lane: lane === 'plan' && index !== plan ? 'text' : lane }
  })
}

function reportOrder(parts: readonly PlacedPart[], at: Path, losses: Losses): void {
  const ranks = parts.map(({ lane }) => FIELD_RANKS[lane ?? 'text'])
  const order = [...ranks.keys()].sort((a, b) => ranks[a]! - ranks[b]! || a - b)
  losses.reorder(at, order, ranks.length, 'fields-have-an-order')
}

/** Collects the parts of an answer by field, then writes the message. */
class MessageWriter {
  private readonly content: JsonObject[] = []
  private readonly calls: JsonObject[] = []
  private readonly citations: JsonObject[] = []
  private plan: string | undefined
  private readonly losses: Losses
  private readonly ids: AnswerIds

  constructor(losses: Losses, request: CanonicalRequest) {
    this.losses = losses
    this.ids = new AnswerIds(request, FORMAT)
  }

  addPart({ part, path, lane }: PlacedPart): void {
    reportPart(part, path, this.losses)
    if (lane === undefined || isEmpty(part)) return
    if (part.type === 'tool-call') this.call(part, path)
    else if (part.type === 'reasoning') this.think(part)
    else if (part.type === 'opaque' && lane !== 'text') (lane === 'block' ? this.content : this.calls).push(part.value)
    else if ('text' in part) this.addText(part as TextPart, lane, path)
  }

  private call(part: ToolCallPart, path: Path): void {
    const id = this.ids.call(part.id, part.name)
    if (id !== part.id) this.losses.changeRestored([...path, 'id'], id, 'id-made-unique')
    this.calls.push(callWith({ ...part, id }, argumentsOf(part)))
  }

  private think(part: ReasoningPart): void {
    if (part.text === '' && part.signature !== undefined) return
    this.content.push({ type: 'thinking', thinking: part.text, ...extrasFor(part, FORMAT) })
  }

  private addText(part: TextPart, lane: Lane, path: Path): void {
    for (const [index, annotation] of (part.annotations ?? []).entries())
      reportFilled(annotation, [...path, 'annotations', index], this.losses)
    this.cite(part.annotations ?? [], { text: part.text, block: lane === 'plan' ? 'plan' : this.content.length })
    if (lane === 'plan') this.plan = part.text
    else this.content.push({ type: 'text', text: part.text, ...extrasFor(part, FORMAT) })
  }

  private cite(annotations: readonly Annotation[], text: CitedText): void {
    for (const annotation of annotations) {
      const citation = writeCitation(annotation, text)
      if (citation !== undefined) this.citations.push(citation)
    }
  }

  written(candidate: Candidate): JsonObject {
    const { citations: otherCitations, ...extras } = extrasFor(candidate, FORMAT)
    const citations = Array.isArray(otherCitations) ? [...this.citations, ...otherCitations] : this.citations
    const hasContent = this.content.length > 0 || this.calls.length === 0
    return {
      role: 'assistant',
      ...(hasContent ? { content: this.content } : {}),
      ...(this.plan === undefined ? {} : { tool_plan: this.plan }),
      ...(this.calls.length === 0 ? {} : { tool_calls: this.calls }),
      ...(citations.length === 0 ? {} : { citations }),
      ...extras,
    }
  }
}
