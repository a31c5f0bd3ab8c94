import * as v from 'valibot'
import type { JsonObject } from '../../../src/canonical/node.ts'
import type { Loose, Scene, UpstreamFormat } from '../../clients/scene.ts'

/** A tool as an upstream was offered it. */
export interface Declared {
  readonly name: string
  /** Where it is declared, in responses. */
  readonly namespace?: string
  /** It takes free text and no arguments. */
  readonly custom?: boolean
}

/** A part of an answer that the upstream gave, which has to come back as it went. */
export interface Issued {
  readonly id: string
  readonly name: string
  /** The proof beside the call. */
  readonly proof: string | undefined
  readonly thought: string | undefined
}

/** One provider's side of a format: what it answers, and what it insists on. */
export interface StrictUpstream {
  readonly name: string
  readonly format: UpstreamFormat
  /** The preset the gateway's channel has. */
  readonly provider: string
  readonly formatName: string
  readonly model: string
  /** What follows the address in the channel's `base_url`. */
  readonly basePath: string
  /** The path of a request for an answer. */
  readonly path: RegExp
  /** The answer to a request that counts tokens, by its path. */
  readonly counts?: { readonly path: RegExp; readonly answer: JsonObject }
  /** Every field a request may have, with its type. */
  readonly table: v.GenericSchema
  /** The refusal of what it has not, which clients understand and do without. */
  declines?(body: JsonObject): JsonObject | undefined
  /** What no table can say; the first fault counts. */
  faults(body: Loose, issued: readonly Issued[]): Iterable<string>
  tools(body: Loose): readonly Declared[]
  /** Whether an answer may have several calls. */
  parallel(body: Loose): boolean
  /** As much of what it thinks as the request asks for; undefined where it does not think. */
  thought(body: Loose, thought: string): Scene['thought']
  /** The proofs that came back, or the thoughts where there are no proofs. */
  proofs(body: Loose): readonly string[]
  /** The id of its nth call. */
  callId(n: number): string
  /** Whether what a turn thought has to come back in every later request of the session. */
  readonly remembers: boolean
}

/** What is wrong with a request, as the provider would say it; undefined where it is taken. */
export function faultOf(upstream: StrictUpstream, body: JsonObject, issued: readonly Issued[]): string | undefined {
  const checked = v.safeParse(upstream.table, body)
  if (!checked.success) return explained(checked.issues[0]!)
  for (const fault of upstream.faults(body, issued)) return fault
  return undefined
}

/** The place and the complaint; of a union, those of the alternative that was probably meant. */
function explained(issue: v.BaseIssue<unknown>, at: readonly unknown[] = []): string {
  const path = [...at, ...(issue.path ?? []).map(({ key }) => key)]
  const [inside] = (issue.type === 'union' ? (issue.issues ?? []) : []).filter(one => one.path !== undefined)
  return inside === undefined ? `${path.join('.')}: ${issue.message}` : explained(inside, path)
}

/* The words of the tables. */

export const text = v.string()
/** A text that says something. */
export const said = v.pipe(v.string(), v.nonEmpty('is empty'))
export const yes = v.boolean()
export const whole = v.pipe(v.number(), v.integer(), v.minValue(0))
export const positive = v.pipe(v.number(), v.integer(), v.minValue(1))
export const free = v.record(v.string(), v.unknown())
export const list = <T extends v.GenericSchema>(one: T) => v.array(one)
export const some = <T extends v.GenericSchema>(one: T) => v.pipe(v.array(one), v.nonEmpty('is empty'))
export const oneOf = <const T extends readonly string[]>(...words: T) => v.picklist(words)

type Optional<E extends v.ObjectEntries> = { [K in keyof E]: v.OptionalSchema<E[K], undefined> }

/** An object of exactly these fields: the first ones have to be there, the others may be absent. */
export const fields = <R extends v.ObjectEntries, O extends v.ObjectEntries>(required: R, optional: O) =>
  v.strictObject({
    ...required,
    ...(Object.fromEntries(Object.entries(optional).map(([name, one]) => [name, v.optional(one)])) as Optional<O>),
  })

/** JSON Schema of a tool: an object. */
export const parameters = v.looseObject({ type: v.literal('object') })

/** The text of arguments, which has to be an object. */
export const argumentsText = v.pipe(
  text,
  v.check(value => {
    try {
      return typeof JSON.parse(value) === 'object'
    } catch {
      return false
    }
  }, 'is not a JSON object'),
)

/** The first of several that is there twice. */
export function twice<T>(all: readonly T[]): T | undefined {
  return all.find((one, index) => all.indexOf(one) !== index)
}
