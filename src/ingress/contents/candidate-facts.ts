import type { RefusalPart } from '../../canonical/content.ts'
import type { CandidateEnd, CanonicalEvent } from '../../canonical/event.ts'
import { isObject, type Json } from '../../canonical/node.ts'
import { NONE, put } from '../fields.ts'
import { citedBy } from './candidate.ts'
import { Places } from './citations.ts'
import { nodeOf, remainsOf } from './fields.ts'
import { readFinish, refusalOf } from './finish.ts'
import { readLogprobs } from './logprobs.ts'

/** A candidate's fields beside its parts, from all events of a stream; of each field the last value counts. */
export class CandidateFacts {
  private readonly index: number
  private reason: string | undefined
  private fields: { [field: string]: Json } = {}

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
    const append = field === 'logprobsResult' ? readLogprobs(value) : undefined
    if (append === undefined) put(this.fields, field, value)
    else if (append.length > 0) out.push({ type: 'logprobs', candidate: this.index, append })
  }

  /** The message of a refusal, which becomes a part. */
  takeRefusal(): RefusalPart | undefined {
    const refusal = refusalOf(readFinish(this.reason, false).finish, this.fields['finishMessage'])
    if (refusal !== undefined) delete this.fields['finishMessage']
    return refusal
  }

  /** The candidate's end; `text` is all its text, and `called` whether it made calls. */
  ended(text: string, called: boolean): CandidateEnd {
    const { finish, spelt } = readFinish(this.reason, called)
    const grounding = this.fields['groundingMetadata']
    const complete = isObject(grounding) && citedBy(this.fields, new Places(text)).complete
    const remains = remainsOf({ fields: this.fields, names: undefined }, complete ? GROUNDED : NONE, {
      finishReason: spelt,
      groundingMetadata: complete ? grounding : undefined,
    })
    return { type: 'candidate-end', candidate: this.index, finish, ...nodeOf(remains) }
  }
}

const GROUNDED: ReadonlySet<string> = new Set(['groundingMetadata'])
