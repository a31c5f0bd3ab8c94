import type { CanonicalError } from '../../canonical/error.ts'
import type { CanonicalEvent } from '../../canonical/event.ts'
import { Base64Stream } from '../../canonical/media/base64.ts'
import { isObject, type JsonObject, parseObject, withOrigin } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { Usage } from '../../canonical/result.ts'
import { NOTHING, type Transducer } from '../../canonical/transducer.ts'
import type { WireEvent } from '../../canonical/wire.ts'
import { readInnerError } from '../errors/openai-error.ts'
import { CUT_SHORT, MALFORMED } from '../errors/stream-error.ts'
import { left } from '../fields.ts'
import { anyCount, settled } from '../usage/counts.ts'
import { requestedType } from './result.ts'
import { FORMAT } from './wire.ts'

const AT = { candidate: 0, part: 0 } as const
const DONE = new Set(['type', 'usage'])

/** A streamed answer (FORMATS §12): chunks of one recording, then its end with the usage. */
export class SpeechEvents implements Transducer<WireEvent, CanonicalEvent> {
  private readonly mediaType: string
  private readonly data = new Base64Stream()
  private out: CanonicalEvent[] = []
  private started = false
  private open = false
  private ended = false

  constructor(request: CanonicalRequest) {
    this.mediaType = requestedType(request)
  }

  push({ data }: WireEvent): readonly CanonicalEvent[] {
    if (this.ended || data === '') return NOTHING
    this.out = []
    if (data === '[DONE]') this.finish({})
    else this.read(parseObject(data))
    return this.out
  }

  end(): readonly CanonicalEvent[] {
    if (this.ended) return NOTHING
    this.out = []
    this.fail(CUT_SHORT)
    return this.out
  }

  private read(wire: JsonObject | undefined): void {
    if (wire === undefined) return this.fail(MALFORMED)
    if (wire['error'] != null) return this.fail(readInnerError(wire))
    const { type, audio } = wire
    if (type === 'speech.audio.done') return this.finish(wire)
    this.start()
    if (type !== 'speech.audio.delta') this.out.push({ type: 'opaque', format: FORMAT, value: wire })
    else if (typeof audio === 'string') this.grow(this.data.push(audio))
  }

  private start(): void {
    if (this.started) return
    this.started = true
    this.out.push({ type: 'result-start', spelling: { [FORMAT]: { own: true } } })
  }

  private grow(append: string): void {
    this.begin()
    if (append !== '') this.out.push({ type: 'part-delta', at: AT, append })
  }

  private begin(): void {
    if (this.open) return
    this.open = true
    const source = { type: 'base64', mediaType: this.mediaType, data: '' } as const
    this.out.push({ type: 'part-start', at: AT, part: { type: 'media', kind: 'audio', source } })
  }

  private finish(done: JsonObject): void {
    this.start()
    if (this.open) {
      this.grow(this.data.end())
      this.out.push({ type: 'part-end', at: AT })
    }
    this.out.push({ type: 'candidate-end', candidate: 0, finish: { reason: 'stop' } })
    if (isObject(done['usage'])) this.out.push({ type: 'usage', usage: readUsage(done['usage']) })
    this.out.push({ type: 'result-end', ...left(FORMAT, done, DONE) })
    this.ended = true
  }

  private fail(error: CanonicalError): void {
    this.start()
    this.out.push({ type: 'error', error })
    this.ended = true
  }
}

const TAKEN = new Set(['input_tokens', 'output_tokens', 'total_tokens'])

/** Tokens of a streamed answer; a whole one has no usage. */
function readUsage(wire: JsonObject): Usage {
  const reported = {
    input: anyCount(wire['input_tokens']),
    output: anyCount(wire['output_tokens']),
    total: anyCount(wire['total_tokens']),
  }
  return withOrigin({ ...settled(reported), ...left(FORMAT, wire, TAKEN) }, FORMAT, wire)
}
