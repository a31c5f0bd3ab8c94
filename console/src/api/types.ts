import type { InferOutput } from 'valibot'
import type * as captures from '../../../src/gateway/capture/shapes.ts'
import type * as shapes from '../../../src/operators/admin/shapes.ts'

/* Response types of the admin API, derived from the schemas of the server. */

export type Key = InferOutput<typeof shapes.KEY>
export type NewKey = InferOutput<typeof shapes.NEW_KEY>
export type Group = InferOutput<typeof shapes.GROUP>
export type Channel = InferOutput<typeof shapes.CHANNEL>
export type ChannelDetails = InferOutput<typeof shapes.CHANNEL_DETAILS>
export type ChannelTest = InferOutput<typeof shapes.CHANNEL_TEST>
export type ChannelDraftTest = InferOutput<typeof shapes.CHANNEL_DRAFT_TEST>
export type ChannelYaml = InferOutput<typeof shapes.CHANNEL_YAML>
export type Provider = InferOutput<typeof shapes.PROVIDER>
export type ProviderField = Provider['fields'][number]
export type ModelSettings = InferOutput<typeof shapes.MODEL_SETTINGS>
export type Model = InferOutput<typeof shapes.MODEL>
export type UsageSum = InferOutput<typeof shapes.USAGE_SUM>
export type Request = InferOutput<typeof shapes.REQUEST>
export type Failures = AllOf<InferOutput<typeof shapes.FAILURE>> & { readonly complete: boolean }
export type Overview = InferOutput<typeof shapes.OVERVIEW>
export type KeyBudget = InferOutput<typeof shapes.KEY_BUDGET>
export type AuditEntry = InferOutput<typeof shapes.AUDIT_ENTRY>
export type Status = InferOutput<typeof shapes.STATUS>
export type User = InferOutput<typeof shapes.USER>
export type NewUser = InferOutput<typeof shapes.NEW_USER>
export type Settings = InferOutput<typeof shapes.SETTINGS>
export type Translations = InferOutput<typeof shapes.TRANSLATIONS>
export type PlacedLoss = NonNullable<Translations['formats'][string]['losses']>[number]
export type TranslateExample = InferOutput<typeof shapes.EXAMPLE>

/** One page of a list. */
export interface PageOf<T> {
  readonly data: readonly T[]
  readonly next_cursor?: string
}

/** A complete list. */
export interface AllOf<T> {
  readonly data: readonly T[]
}

/** All models, with the source of their limits and abilities. */
export interface Models extends AllOf<Model> {
  readonly catalogue: InferOutput<typeof shapes.CATALOGUE>
}

/** Usage totals of a time range. */
export interface Usage extends AllOf<UsageSum> {
  readonly since: string
  readonly until: string
  /** False if there are more rows than were requested. */
  readonly complete: boolean
}

export type Capture = InferOutput<typeof captures.CAPTURE>
export type SideRecording = InferOutput<typeof captures.SIDE_RECORDING>
export type Fixture = InferOutput<typeof captures.FIXTURE>
