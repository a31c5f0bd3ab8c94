export type Json = string | number | boolean | null | readonly Json[] | JsonObject
export type JsonObject = { readonly [key: string]: Json }

/**
 * A wire format's name. The hub does not depend on the formats: the name is a plain string here, never a list of names.
 */
export type Format = string

/** Fields for data of formats that have more than the canonical model. */
export interface Node {
  /** What a format has here and canonical has no field for. A loss for any other format's writer. */
  readonly extras?: { readonly [format: Format]: JsonObject }
  /** How a format wrote what canonical contains (a string for a one-part list). Never a loss. */
  readonly spelling?: { readonly [format: Format]: JsonObject }
}

/**
 * Whether the field holds the default of its format, which the caller left out: losing it loses nothing the caller
 * wrote.
 */
export const isImplied = ({ spelling = {} }: Node, field: string): boolean =>
  Object.values(spelling).some(({ implied }) => Array.isArray(implied) && implied.includes(field))

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The field's string; an empty string for any other type. */
export const stringIn = (value: Json | undefined): string => (typeof value === 'string' ? value : '')

/** The object a JSON text holds, or undefined where it holds anything else or does not parse. */
export function parseObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}
