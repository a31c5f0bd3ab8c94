/** Fields that `interlingua usage` can group by. */
export const USAGE_FIELDS = ['key', 'model', 'channel', 'format'] as const

export interface UsageOptions {
  readonly by: (typeof USAGE_FIELDS)[number]
  readonly since: string
  readonly until?: string
  readonly csv?: true
  readonly json?: true
}
