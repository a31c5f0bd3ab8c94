import type { CanonicalError } from '../../canonical/error.ts'
import type { CanonicalEvent } from '../../canonical/event.ts'
import type { WireEvent } from '../../canonical/exchange.ts'
import { withBody } from '../../canonical/fold.ts'
import { type JsonObject, parseObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import { NOTHING, type Transducer } from '../../canonical/transducer.ts'
import { anyNumber, anyObject, anyText, defined, rest, spelling } from '../fields.ts'
import { readMade } from './answer.ts'
import { readInnerError } from './error.ts'
import { FORMAT } from './pictures.ts'
import { readUsage } from './usage.ts'

/** What every event says again of the answer as a whole. */
const SHARED = ['background', 'quality', 'size'] as const

const PARTIAL = /^image_(?:generation|edit)\.partial_image$/
const COMPLETED = /^image_(?:generation|edit)\.completed$/

/**
 * A streamed answer (FORMATS §10): unfinished pictures, and one completed event for each finished one. It has no end
 * mark, so one that ends without any picture, or behind an unfinished one, was cut short.
 */
export class ImagesEvents implements Transducer<WireEvent, CanonicalEvent> {
  private readonly asked: CanonicalRequest
  private out: CanonicalEvent[] = []
  private shared: JsonObject | undefined
  private made = 0
  private unfinished = false
  private over = false

  constructor(asked: CanonicalRequest) {
    this.asked = asked
  }

  push({ data }: WireEvent): readonly CanonicalEvent[] {
    if (this.over || data === '' || data === '[DONE]') return NOTHING
    this.out = []
    const event = parseObject(data)
    if (event === undefined) this.fail(RUBBISH)
    else this.read(event)
    return this.out
  }

  end(): readonly CanonicalEvent[] {
    if (this.over) return NOTHING
    this.out = []
    if (this.made === 0 || this.unfinished) this.fail(CUT_SHORT)
    else this.out.push({ type: 'result-end' })
    return this.out
  }

  private read(event: JsonObject): void {
    const type = anyText(event['type']) ?? ''
    if (event['error'] != null) this.fail(readInnerError(event))
    else if (PARTIAL.test(type)) this.preview(event)
    else if (COMPLETED.test(type)) this.complete(event)
    else {
      this.start({})
      this.out.push({ type: 'opaque', format: FORMAT, value: event })
    }
  }

  private start(event: JsonObject): void {
    if (this.shared !== undefined) return
    this.shared = Object.fromEntries(
      SHARED.filter(field => event[field] != null).map(field => [field, event[field]!] as const),
    )
    const extras = spelling(this.shared)
    this.out.push({
      type: 'result-start',
      ...defined({ createdAt: anyNumber(event['created_at']) }),
      ...(extras === undefined ? {} : { extras: { [FORMAT]: extras } }),
      spelling: { [FORMAT]: { own: true } },
    })
  }

  private preview(event: JsonObject): void {
    this.start(event)
    const made = readMade(event, event['output_format'], this.asked)
    if (made === undefined) return
    this.unfinished = true
    const index = anyNumber(event['partial_image_index']) ?? 0
    const { source } = made.part
    this.out.push({ type: 'preview', candidate: this.made, index, source, ...this.left(event, made.field) })
  }

  private complete(event: JsonObject): void {
    this.start(event)
    const made = readMade(event, event['output_format'], this.asked)
    const candidate = this.made++
    this.unfinished = false
    if (made !== undefined) {
      const { part } = made
      const at = { candidate, part: 0 }
      this.out.push({ type: 'part-start', at, part: withBody(part, '') })
      if (part.source.type === 'base64' && part.source.data !== '')
        this.out.push({ type: 'part-delta', at, append: part.source.data })
      this.out.push({ type: 'part-end', at })
    }
    const usage = anyObject(event['usage'])
    if (usage !== undefined) this.out.push({ type: 'usage', usage: readUsage(usage) })
    const node = this.left(event, made?.field)
    this.out.push({ type: 'candidate-end', candidate, finish: { reason: 'stop' }, ...node })
  }

  /** What an event says that the answer as a whole has not said. */
  private left(event: JsonObject, field: string | undefined) {
    const told = SHARED.filter(name => event[name] !== undefined && this.shared![name] === event[name])
    const taken = new Set([...TAKEN, ...told, ...(field === undefined ? [] : [field])])
    const absent = event['output_format'] === undefined ? { output_format: 'absent' } : {}
    const missing = SHARED.filter(name => event[name] === undefined && this.shared![name] !== undefined)
    const marks = { ...absent, ...(missing.length === 0 ? {} : { missing }) }
    return rest(FORMAT, event, taken, spelling(marks))
  }

  private fail(error: CanonicalError): void {
    this.over = true
    this.start({})
    this.out.push({ type: 'error', error })
  }
}

const TAKEN = ['type', 'created_at', 'output_format', 'partial_image_index', 'usage'] as const

const RUBBISH: CanonicalError = {
  kind: 'upstream-failed',
  message: 'The upstream sent an event that is no JSON object.',
}
const CUT_SHORT: CanonicalError = { kind: 'upstream-failed', message: 'The upstream ended its answer early.' }
