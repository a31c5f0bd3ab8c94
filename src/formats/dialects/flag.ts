import type { Effort } from '../../canonical/request.ts'

/** Types of flags without a fixed list of values. */
interface FlagTypes {
  readonly boolean: boolean
  readonly number: number
  readonly string: string
  readonly efforts: readonly Effort[]
  readonly 'string-map': { readonly [name: string]: string }
}

export type FlagType = keyof FlagTypes

interface Row<Values, Value> {
  /** Allowed values, or the name of their type. */
  readonly values: Values
  /** The value without an effect. Absent if it depends on the model, the caller or another flag. */
  readonly default?: Value
  /** English text with code in backquotes, for operators and administrators. */
  readonly meaning: string
}

export type Flag = { [T in FlagType]: Row<T, FlagTypes[T]> }[FlagType] | Row<readonly string[], string>

/** The dialect flags of a format. If a flag is not declared, the upstream follows the public format. */
export interface Flags {
  readonly [name: string]: Flag
}

/** The flags in the form in which writers get them. */
export type DialectOf<F extends Flags> = { readonly [Name in keyof F]?: ValueOf<F[Name]['values']> }

type ValueOf<V> = V extends FlagType ? FlagTypes[V] : V extends readonly (infer Value)[] ? Value : never
