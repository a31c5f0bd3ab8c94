import type { GotAnswer } from '../exchange.ts'
import type { Meddling } from '../proxy/index.ts'
import type { Specs } from '../specs.ts'

/** A fault between the caller and a correct target, and the checks that must detect it. */
export interface Saboteur extends Meddling {
  readonly name: string
  /** Description of the fault in one sentence. */
  readonly says: string
  /** Cell in which the fault is tested. */
  readonly cell: string
  /** Versions of formats in which the fault is tested (default: the first of each). */
  readonly specs?: Specs
  /** Rules of exactly the checks that fail in that cell. */
  readonly caught: readonly string[]
}

/** Returns an answer with its text changed. */
export const edited = (answer: GotAnswer, edit: (text: string) => string): GotAnswer => ({
  ...answer,
  body: Buffer.from(edit(answer.body.toString('utf8'))),
})

/** Returns a request's body with its text changed. */
export const rewritten = (body: Buffer, edit: (text: string) => string): Buffer =>
  Buffer.from(edit(body.toString('utf8')))

/** A request's body with its bytes changed, each of them a character: texts of forms, between bytes of files. */
export const rewrittenBytes = (body: Buffer, edit: (text: string) => string): Buffer =>
  Buffer.from(edit(body.toString('latin1')), 'latin1')

/** A form without the first field of that name. */
export const withoutField = (body: Buffer, name: string): Buffer =>
  rewrittenBytes(body, text =>
    text.replace(new RegExp(`--[^\\r\\n]+\\r\\n[^\\r\\n]+name="${name}"[\\s\\S]*?\\r\\n(?=--)`), ''),
  )
