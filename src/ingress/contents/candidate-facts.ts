import type { RefusalPart } from '../../canonical/content.ts'
import type { CandidateEnd, CanonicalEvent } from '../../canonical/event.ts'
import { isObject, type Json } from '../../canonical/node.ts'
import { NONE, put } from '../fields.ts'
import { citedBy } from './candidate.ts'
import { Places } from './citations.ts'
import { leftOf, nodeOf } from './fields.ts'
import { readFinish, refusalOf } from './finish.ts'
import { readLogprobs } from './logprobs.ts'

/** What a stream tells of a candidate beside its parts; of each field the last word counts. */
export class CandidateFacts {
  private readonly index: number
  private word: string | undefined
  private fields: { [field: string]: Json } = {}

  constructor(index: number) {
    this.index = index
  }

  get finished(): boolean {
    return this.word !== undefined
  }

  add(field: string, value: Json, out: CanonicalEvent[]): void {
    if (value === null) return
    if (field === 'finishReason') {
      if (typeof value === 'string' && value !== '') this.word = value
      return
    }
    const append = field === 'logprobsResult' ? readLogprobs(value) : undefined
    if (append === undefined) put(this.fields, field, value)
    else if (append.length > 0) out.push({ type: 'logprobs', candidate: this.index, append })
  }

  /** Words of refusal, which leave the facts for a part of their own. */
  takeRefusal(): RefusalPart | undefined {
    const refusal = refusalOf(readFinish(this.word, false).finish, this.fields['finishMessage'])
    if (refusal !== undefined) delete this.fields['finishMessage']
    return refusal
  }

  /** The candidate's end; `text` is all it said, and `called` whether it made calls. */
  ended(text: string, called: boolean): CandidateEnd {
    const { finish, spelt } = readFinish(this.word, called)
    const grounding = this.fields['groundingMetadata']
    const complete = isObject(grounding) && citedBy(this.fields, new Places(text)).complete
    const left = leftOf({ fields: this.fields, names: undefined }, complete ? GROUNDED : NONE, {
      finishReason: spelt,
      groundingMetadata: complete ? grounding : undefined,
    })
    return { type: 'candidate-end', candidate: this.index, finish, ...nodeOf(left) }
  }
}

const GROUNDED: ReadonlySet<string> = new Set(['groundingMetadata'])
