import * as v from 'valibot'
import type { JsonObject } from '../../../src/canonical/node.ts'
import type { Loose, Scene, UpstreamFormat } from '../../clients/scene.ts'

/** A tool as it was offered to an upstream. */
export interface Declared {
  readonly name: string
  /** Namespace of the declaration, in responses. */
  readonly namespace?: string
  /** Whether the tool takes free text instead of arguments. */
  readonly custom?: boolean
}

/** A part of an answer of the upstream, which must be returned unchanged. */
export interface Issued {
  readonly id: string
  readonly name: string
  /** Signature beside the call. */
  readonly proof: string | undefined
  readonly thought: string | undefined
}

/** One provider's side of a format: its answers and its requirements. */
export interface StrictUpstream {
  readonly name: string
  readonly format: UpstreamFormat
  /** Preset of the gateway's channel. */
  readonly provider: string
  readonly formatName: string
  readonly model: string
  /** Further fields of the gateway's channel. */
  readonly settings?: JsonObject
  /** Path after the address in the channel's `base_url`. */
  readonly basePath: string
  /** Path of a request for an answer. */
  readonly path: RegExp
  /** Path of token counting, and its answer. */
  readonly counts?: { readonly path: RegExp; readonly answer: JsonObject }
  /** All fields of a request with their types. */
  readonly table: v.GenericSchema
  /** Returns the refusal of a missing feature, which clients understand and then do without. */
  declines?(body: JsonObject): JsonObject | undefined
  /** Reports faults that no table can express. The first one is used. */
  faults(body: Loose, issued: readonly Issued[]): Iterable<string>
  tools(body: Loose): readonly Declared[]
  /** Whether an answer may have several calls. */
  parallel(body: Loose): boolean
  /** Returns as much of the reasoning as the request asks for. Undefined if the model does not reason. */
  thought(body: Loose, thought: string): Scene['thought']
  /** Returns the returned signatures, or the returned reasoning if the provider has no signatures. */
  proofs(body: Loose): readonly string[]
  /** Returns the id of the nth call. */
  callId(n: number): string
  /** Whether the reasoning of a turn must be returned in every later request of the session. */
  readonly remembers: boolean
}

/** Returns the fault of a request in the provider's words. Undefined if the request is accepted. */
export function faultOf(upstream: StrictUpstream, body: JsonObject, issued: readonly Issued[]): string | undefined {
  const checked = v.safeParse(upstream.table, body)
  if (!checked.success) return explained(checked.issues[0]!)
  for (const fault of upstream.faults(body, issued)) return fault
  return undefined
}

/**
 * Returns the path and the message of a fault. Of a union, returns those of the alternative that was probably meant.
 */
function explained(issue: v.BaseIssue<unknown>, at: readonly unknown[] = []): string {
  const path = [...at, ...(issue.path ?? []).map(({ key }) => key)]
  const [inside] = (issue.type === 'union' ? (issue.issues ?? []) : []).filter(one => one.path !== undefined)
  return inside === undefined ? `${path.join('.')}: ${issue.message}` : explained(inside, path)
}

/* Types of the tables. */

export const text = v.string()
/** A text that is not empty. */
export const said = v.pipe(v.string(), v.nonEmpty('is empty'))
export const yes = v.boolean()
export const whole = v.pipe(v.number(), v.integer(), v.minValue(0))
export const positive = v.pipe(v.number(), v.integer(), v.minValue(1))
export const free = v.record(v.string(), v.unknown())
export const list = <T extends v.GenericSchema>(one: T) => v.array(one)
export const some = <T extends v.GenericSchema>(one: T) => v.pipe(v.array(one), v.nonEmpty('is empty'))
export const oneOf = <const T extends readonly string[]>(...words: T) => v.picklist(words)

type Optional<E extends v.ObjectEntries> = { [K in keyof E]: v.OptionalSchema<E[K], undefined> }

/** An object with exactly these fields. The first ones are required, the others optional. */
export const fields = <R extends v.ObjectEntries, O extends v.ObjectEntries>(required: R, optional: O) =>
  v.strictObject({
    ...required,
    ...(Object.fromEntries(Object.entries(optional).map(([name, one]) => [name, v.optional(one)])) as Optional<O>),
  })

/** JSON Schema of a tool's arguments: an object. */
export const parameters = v.looseObject({ type: v.literal('object') })

/** The text of arguments, which must be an object. */
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

/** Returns the first item that occurs twice. */
export function twice<T>(all: readonly T[]): T | undefined {
  return all.find((one, index) => all.indexOf(one) !== index)
}
