import type { InferOutput } from 'valibot'
import type * as captures from '../../../src/gateway/capture/shapes.ts'
import type * as shapes from '../../../src/operators/admin/shapes.ts'

/* What the admin API answers, derived from its own schemas. */

export type Key = InferOutput<typeof shapes.KEY>
export type NewKey = InferOutput<typeof shapes.NEW_KEY>
export type Group = InferOutput<typeof shapes.GROUP>
export type Channel = InferOutput<typeof shapes.CHANNEL>
export type ChannelDetails = InferOutput<typeof shapes.CHANNEL_DETAILS>
export type ChannelTest = InferOutput<typeof shapes.CHANNEL_TEST>
export type Model = InferOutput<typeof shapes.MODEL>
export type UsageSum = InferOutput<typeof shapes.USAGE_SUM>
export type Request = InferOutput<typeof shapes.REQUEST>
export type Status = InferOutput<typeof shapes.STATUS>
export type User = InferOutput<typeof shapes.USER>
export type NewUser = InferOutput<typeof shapes.NEW_USER>
export type Settings = InferOutput<typeof shapes.SETTINGS>
export type Translations = InferOutput<typeof shapes.TRANSLATIONS>
export type PlacedLoss = NonNullable<Translations['formats'][string]['losses']>[number]
export type TranslateExample = InferOutput<typeof shapes.EXAMPLE>

/** A page of a list. */
export interface PageOf<T> {
  readonly data: readonly T[]
  readonly next_cursor?: string
}

/** A whole list. */
export interface AllOf<T> {
  readonly data: readonly T[]
}

/** All models, and where their limits and abilities are from. */
export interface Models extends AllOf<Model> {
  readonly catalogue: InferOutput<typeof shapes.CATALOGUE>
}

/** Sums of usage in a range of time. */
export interface Usage extends AllOf<UsageSum> {
  readonly since: string
  readonly until: string
}

export type Capture = InferOutput<typeof captures.CAPTURE>
export type Fixture = InferOutput<typeof captures.FIXTURE>
