import type { ReceivedAnswer } from '../exchange.ts'
import type { Meddling } from '../proxy/index.ts'
import type { Specs } from '../specs.ts'

/** A fault between the caller and a correct target, and the checks that must detect it. */
export interface Saboteur extends Meddling {
  readonly name: string
  /** Description of the fault in one sentence. */
  readonly says: string
  /** Cell in which the fault is tested. */
  readonly cell: string
  /** Versions of formats in which the fault is tested. The default is the first version of each format. */
  readonly specs?: Specs
  /** Rules of the checks that must fail in that cell. No other check may fail. */
  readonly caught: readonly string[]
}

/** Changes the text of an answer. */
export const edited = (answer: ReceivedAnswer, edit: (text: string) => string): ReceivedAnswer => ({
  ...answer,
  body: Buffer.from(edit(answer.body.toString('utf8'))),
})

/** Changes the text of a request's body. */
export const rewritten = (body: Buffer, edit: (text: string) => string): Buffer =>
  Buffer.from(edit(body.toString('utf8')))

/**
 * Changes a request's body byte by byte, with one character per byte, so that files between the texts of a form stay
 * intact.
 */
export const rewrittenBytes = (body: Buffer, edit: (text: string) => string): Buffer =>
  Buffer.from(edit(body.toString('latin1')), 'latin1')

/** Removes the first field of the given name from a form. */
export const withoutField = (body: Buffer, name: string): Buffer =>
  rewrittenBytes(body, text =>
    text.replace(new RegExp(`--[^\\r\\n]+\\r\\n[^\\r\\n]+name="${name}"[\\s\\S]*?\\r\\n(?=--)`), ''),
  )
