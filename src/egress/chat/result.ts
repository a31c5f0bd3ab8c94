import type { Annotation, MediaPart, Part, ReasoningPart, TextPart } from '../../canonical/content.ts'
import type { WireAnswer } from '../../canonical/exchange.ts'
import { foreign, Losses, type Path, type Written } from '../../canonical/loss.ts'
import type { Json, JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { Candidate, CanonicalResult } from '../../canonical/result.ts'
import { defined, kept, spelt } from '../fields.ts'
import { isHidden, isSpoken, nodeOf, signatureExtra, signsCall, writeAnnotation, writeLogprob } from './answer.ts'
import { writeCall } from './assistant.ts'
import { FORMAT } from './content.ts'
import { reportFinish, writeFinish } from './finish.ts'
import { writeUsage } from './usage.ts'

/** A whole answer as a `chat.completion` (FORMATS §2, §16.3). */
export function writeResult(result: CanonicalResult, asked: CanonicalRequest): Written<WireAnswer> {
  const losses = new Losses()
  losses.list.push(...foreign(result, FORMAT))
  losses.dropFields(result, [], { job: 'no-jobs', error: 'no-error-beside-an-answer' })
  if (result.createdAt === undefined) losses.add(['createdAt'], 0, 'time-required')
  const object = spelt(result, FORMAT)['object'] ?? 'chat.completion'
  const body = {
    id: result.id ?? '',
    ...(object === 'absent' ? {} : { object }),
    created: result.createdAt ?? 0,
    model: result.model ?? asked.model,
    choices: result.candidates.map((candidate, index) => writeChoice(candidate, index, asked, losses)),
    ...defined({ usage: result.usage && writeUsage(result.usage, losses), service_tier: result.serviceTier }),
    ...kept(result, FORMAT),
  } as JsonObject
  return { wire: { status: 200, headers: {}, body }, losses: losses.list }
}

function writeChoice(candidate: Candidate, index: number, asked: CanonicalRequest, losses: Losses): JsonObject {
  const path: Path = ['candidates', index]
  const own = spelt(candidate, FORMAT)
  const { message: extras, ...outer } = kept(candidate, FORMAT)
  const content = { ...writeMessage(candidate, path, asked, losses), ...kept(nodeOf(extras, own['inside']), FORMAT) }
  const finish_reason = writeFinish(
    candidate,
    candidate.content.some(part => part.type === 'tool-call'),
  )
  reportFinish(candidate, finish_reason, path, losses)
  const logprobs = writeLogprobs(candidate, own)
  const ended = finish_reason === 'absent' ? {} : { finish_reason }
  return { index: own['index'] ?? index, message: content, ...logprobs, ...ended, ...outer }
}

function writeLogprobs(candidate: Candidate, own: JsonObject): { logprobs?: Json } {
  if (candidate.logprobs === undefined) return own['own'] === undefined ? { logprobs: null } : {}
  return {
    logprobs: {
      content: candidate.logprobs.map(writeLogprob),
      ...((own['logprobs'] as JsonObject) ?? { refusal: null }),
    },
  }
}

function writeMessage(candidate: Candidate, path: Path, asked: CanonicalRequest, losses: Losses): JsonObject {
  const message = new MessageWriter(losses, asked, spelt(candidate, FORMAT))
  const at: Path = [...path, 'content']
  reportOrder(candidate.content, at, losses)
  for (const [index, part] of candidate.content.entries())
    message.put(part, candidate.content[index + 1], [...at, index])
  return message.written()
}

/** The order the fields of a message are read back in. */
const ORDER: { readonly [T in Part['type']]: number } = {
  ...{ reasoning: 0, text: 1, opaque: 1, refusal: 2, media: 3, 'tool-call': 4, 'tool-result': 5, embedding: 5 },
}

function reportOrder(content: readonly Part[], path: Path, losses: Losses): void {
  const rank = content.map((part, index) =>
    signsCall(part, content[index + 1]) ? ORDER['tool-call'] : ORDER[part.type],
  )
  const order = [...rank.keys()].sort((a, b) => rank[a]! - rank[b]! || a - b)
  if (order.some((from, to) => from !== to)) losses.move(path, order, 'fields-have-an-order')
}

class MessageWriter {
  private readonly parts: JsonObject[] = []
  private texts: { readonly part: TextPart; readonly path: Path }[] = []
  private readonly thoughts: ReasoningPart[] = []
  private readonly calls: JsonObject[] = []
  private refusal: string | undefined
  private audio: JsonObject | undefined
  private signature: string | undefined
  private readonly losses: Losses
  private readonly asked: CanonicalRequest
  private readonly own: JsonObject

  constructor(losses: Losses, asked: CanonicalRequest, own: JsonObject) {
    this.losses = losses
    this.asked = asked
    this.own = own
  }

  put(part: Part, next: Part | undefined, path: Path): void {
    if (part.type !== 'opaque') this.plain(part, path)
    switch (part.type) {
      case 'text':
        return void this.texts.push({ part, path })
      case 'reasoning':
        return this.reasoning(part, next, path)
      case 'refusal':
        this.refusal = (this.refusal ?? '') + part.text
        return
      case 'tool-call':
        this.call(part)
        if (part.namespace !== undefined) this.losses.drop([...path, 'namespace'], 'no-namespaces')
        return
      case 'opaque':
        return this.opaque(part, path)
      default:
        if (isSpoken(part) && this.audio === undefined) this.speech(part, path)
        else this.losses.drop(path, 'no-such-content')
    }
  }

  /** Only the parts that stand as objects of their own have a place for what the format itself says of them. */
  private plain(part: Exclude<Part, { type: 'opaque' }>, path: Path): void {
    if (part.cache !== undefined) this.losses.drop([...path, 'cache'], 'no-cache-markers-here')
    if (part.extras?.[FORMAT] === undefined || part.type === 'tool-call' || isSpoken(part)) return
    if (this.own['content'] !== 'parts') this.losses.drop([...path, 'extras', FORMAT], 'no-place-for-it')
  }

  private reasoning(part: ReasoningPart, next: Part | undefined, path: Path): void {
    if (signsCall(part, next)) this.signature = part.signature!.value
    else if (spelt(part, FORMAT)['as'] === 'thinking') this.parts.push(spelt(part, FORMAT)['value'] as JsonObject)
    else if (isHidden(part)) this.losses.drop(path, 'no-hidden-reasoning')
    else {
      if (part.signature !== undefined) this.losses.drop([...path, 'signature'], 'no-signatures')
      this.thoughts.push(part)
    }
  }

  private call(part: Part & { type: 'tool-call' }): void {
    if (spelt(part, FORMAT)['as'] === 'function_call') {
      this.calls.push({ function_call: { name: part.name, arguments: part.arguments, ...kept(part, FORMAT) } })
      return
    }
    const native = this.own['own'] !== undefined
    this.calls.push({
      ...writeCall(part, native),
      ...(this.signature === undefined ? {} : signatureExtra(this.signature)),
    })
    this.signature = undefined
  }

  private opaque(part: Part & { type: 'opaque' }, path: Path): void {
    if (part.format !== FORMAT) {
      if (part.text !== undefined) this.texts.push({ part: { type: 'text', text: part.text }, path })
    } else if (this.own['content'] === 'parts') this.parts.push(part.value)
    else if (this.own['own'] !== undefined) this.calls.push(part.value)
    else this.losses.drop(path, 'no-place-for-it')
  }

  private speech(part: MediaPart, path: Path): void {
    const { source, transcript } = part
    this.losses.dropFields(part, path, { name: 'no-name-here', detail: 'no-detail-here' })
    if (source.type !== 'base64') return
    const mediaType = this.asked.output.audio?.mediaType ?? 'audio/wav'
    if (mediaType !== source.mediaType) this.losses.change([...path, 'source', 'mediaType'], mediaType, 'type-as-asked')
    this.audio = defined({ data: source.data, transcript, ...kept(part, FORMAT) }) as JsonObject
  }

  written(): JsonObject {
    const { own } = this
    const native = own['own'] !== undefined
    const legacy = this.calls.find(call => 'function_call' in call)
    const calls = this.calls.filter(call => call !== legacy)
    return {
      role: 'assistant',
      ...this.content(),
      ...(this.refusal === undefined ? (native ? {} : { refusal: null }) : { refusal: this.refusal }),
      ...this.reasoned(),
      ...this.annotations(),
      ...(this.audio === undefined ? {} : { audio: this.audio }),
      ...(calls.length > 0 || own['calls'] === 'empty' ? { tool_calls: calls } : {}),
      ...legacy,
    }
  }

  private content(): { content?: Json } {
    if (this.own['content'] === 'parts')
      return {
        content: [
          ...this.parts,
          ...this.texts.map(({ part }) => ({ type: 'text', text: part.text, ...kept(part, FORMAT) })),
        ],
      }
    if (this.texts.length === 0) return this.own['content'] === 'absent' ? {} : { content: null }
    const joined = this.texts.map(({ part }) => part.text).join('')
    this.reportJoin(joined)
    return { content: joined }
  }

  /** Neighbouring plain texts are one text anyway; an annotated one is changed by the company. */
  private reportJoin(joined: string): void {
    const [first, ...others] = this.texts
    if (others.length === 0 || this.texts.every(({ part }) => part.annotations === undefined)) return
    const annotations = this.shifted()
    const became = { type: 'text', text: joined, ...(annotations.length === 0 ? {} : { annotations }) }
    this.losses.change(first!.path, became, 'one-text-only')
    for (const { path } of others) this.losses.drop(path, 'one-text-only')
  }

  private shifted(): Annotation[] {
    let offset = 0
    return this.texts.flatMap(({ part }) => {
      const from = offset
      offset += part.text.length
      return (part.annotations ?? []).flatMap(annotation => shift(annotation, from) ?? [])
    })
  }

  private annotations(): JsonObject {
    let offset = 0
    const annotations = this.texts.flatMap(({ part }) => {
      const from = offset
      offset += part.text.length
      return (part.annotations ?? []).flatMap((one, index) => this.annotation(one, from, index))
    })
    return annotations.length > 0 || this.own['annotations'] === 'empty' ? { annotations } : {}
  }

  private annotation(annotation: Annotation, offset: number, index: number): JsonObject[] {
    const { path } = this.texts.find(({ part }) => part.annotations?.[index] === annotation)!
    if (annotation.type === 'citation' && annotation.quote !== undefined && !this.joins())
      this.losses.drop([...path, 'annotations', index, 'quote'], 'no-quotes')
    const wire = writeAnnotation(annotation, offset)
    return wire === undefined ? [] : [wire]
  }

  private joins = (): boolean => this.texts.length > 1

  private reasoned(): JsonObject {
    if (this.thoughts.length === 0) return {}
    const field = spelt(this.thoughts[0], FORMAT)['field'] === 'reasoning' ? 'reasoning' : 'reasoning_content'
    return { [field]: this.thoughts.map(part => part.text).join('') }
  }
}

/** The annotation as it is read back from the joined text. */
function shift(annotation: Annotation, offset: number): Annotation | undefined {
  if (annotation.type === 'opaque') return annotation.format === FORMAT ? annotation : undefined
  const { quote: _, start, end, extras, ...rest } = annotation
  const own = extras?.[FORMAT]
  return {
    ...rest,
    ...defined({
      start: start === undefined ? undefined : start + offset,
      end: end === undefined ? undefined : end + offset,
    }),
    ...(own === undefined ? {} : { extras: { [FORMAT]: own } }),
  }
}
