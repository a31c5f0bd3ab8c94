export type Json = string | number | boolean | null | readonly Json[] | JsonObject
export type JsonObject = { readonly [key: string]: Json }

/** A wire format's name. The hub knows no spokes: it is a word here, never a list. */
export type Format = string

/** What every canonical value may carry along for the formats that have more to say. */
export interface Node {
  /** What a format says here that canonical has no word for. For any other format's writer it is a loss. */
  readonly extras?: { readonly [format: Format]: JsonObject }
  /** How a format spelled what canonical does say (a string for a one-part list). Never a loss. */
  readonly spelling?: { readonly [format: Format]: JsonObject }
}

/** Whether a field holds what its format means where it says nothing: to lose that is to lose nothing that was said. */
export const isImplied = ({ spelling = {} }: Node, field: string): boolean =>
  Object.values(spelling).some(({ implied }) => Array.isArray(implied) && implied.includes(field))

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The word a field holds; whatever else it holds says nothing. */
export const wordIn = (value: Json | undefined): string => (typeof value === 'string' ? value : '')

/** The object a JSON text holds, or undefined where it holds anything else or does not parse. */
export function parseObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}
