import type { InferOutput } from 'valibot'
import { defined } from '../../../canonical/node.ts'
import type { ChannelConfig } from '../../../config/index.ts'
import { instantOf } from '../../../config/schema.ts'
import type { ChannelState, ChannelStates } from '../../../gateway/channel-states.ts'
import type { UsageGroup } from '../../../store/usage-records.ts'
import { type ErrorGroup, failingSince } from '../../../upstreams/channel/health.ts'
import type { Administration } from '../administration.ts'
import type { CONCERN } from '../shapes.ts'
import type { KeyBudget } from './budgets.ts'

/** Spent share of a budget above which its key is a concern. */
const BUDGET_ALERT_SHARE = 0.8
/** Maximum number of concerns per kind. */
const MAX_CONCERNS = 20

/** Something that needs an operator. */
export type Concern = InferOutput<typeof CONCERN>

/** Facts from which concerns are derived. */
export interface Facts {
  readonly states: ChannelStates
  readonly budgets: readonly KeyBudget[]
  /** Requests refused in the last hour without trying a channel, by key. */
  readonly limited: readonly UsageGroup[]
  /** Today's usage by model. */
  readonly models: readonly UsageGroup[]
  readonly health: { readonly store: string | undefined; readonly redis: boolean | undefined }
  readonly now: number
}

/** Lists everything that needs an operator, the most serious concern first. */
export function concernsOf(gateway: Administration, facts: Facts): readonly Concern[] {
  const all = [
    ...healthConcerns(facts.health),
    ...gateway.config.channels.flatMap(channel => channelConcerns(channel, facts.states[channel.name], facts.now)),
    ...worstFirst(facts.budgets.flatMap(budgetConcerns)).slice(0, MAX_CONCERNS),
    ...facts.limited.slice(0, MAX_CONCERNS).map(limitConcern),
    ...priceConcerns(facts.models).slice(0, MAX_CONCERNS),
    ...gateway.warnings().map((message): Concern => ({ kind: 'config', severity: 'warn', message })),
  ]
  return worstFirst(all)
}

const worstFirst = (all: readonly Concern[]): readonly Concern[] => [
  ...all.filter(one => one.severity === 'bad'),
  ...all.filter(one => one.severity === 'warn'),
]

const healthConcerns = ({ store, redis }: Facts['health']): readonly Concern[] => [
  ...(store === undefined ? [] : [{ kind: 'store', severity: 'bad', message: store } as const]),
  ...(redis === false ? [{ kind: 'redis', severity: 'bad' } as const] : []),
]

function channelConcerns(config: ChannelConfig, state: ChannelState | undefined, now: number): readonly Concern[] {
  if (state === undefined) return []
  const { name: channel } = config
  const keys = (config.keys ?? []).flatMap(({ pooled }) => {
    const key = state.keys?.[pooled!.id]
    return key === undefined ? [] : keyConcerns({ channel, ending: pooled!.ending }, key, now)
  })
  if (state.drained) return [{ kind: 'channel-drained', severity: 'warn', channel }, ...keys]
  const since = failingSince(state.stats, now)
  if (since !== undefined) {
    const error = state.stats.errors[0]
    return [{ kind: 'channel-failing', severity: 'bad', channel, since: instantOf(since), ...reasonOf(error) }, ...keys]
  }
  if (state.restingUntil !== undefined)
    return [{ kind: 'channel-resting', severity: 'warn', channel, until: instantOf(state.restingUntil) }, ...keys]
  const models = state.resting.map(
    ([model, until]): Concern => ({ kind: 'model-resting', severity: 'warn', channel, model, until: instantOf(until) }),
  )
  return [...models.slice(0, MAX_CONCERNS), ...keys]
}

const reasonOf = (error: ErrorGroup | undefined) =>
  error === undefined
    ? {}
    : {
        failure: { reason: error.reason, message: error.message, ...defined({ status: error.status }) },
        error: error.kind,
        model: error.model,
      }

type PooledKey = { readonly channel: string; readonly ending: string }

function keyConcerns(
  pooledKey: PooledKey,
  { refusal, restingUntil, stats }: ChannelState,
  now: number,
): readonly Concern[] {
  const until = restingUntil === undefined ? {} : { until: instantOf(restingUntil) }
  if (refusal !== undefined && restingUntil !== undefined)
    return [
      { kind: 'key-refused', severity: 'bad', ...pooledKey, ...reasonOf(stats.errors[0]), error: refusal, ...until },
    ]
  const since = failingSince(stats, now)
  if (since !== undefined)
    return [
      { kind: 'key-failing', severity: 'bad', ...pooledKey, since: instantOf(since), ...reasonOf(stats.errors[0]) },
    ]
  return restingUntil === undefined ? [] : [{ kind: 'key-resting', severity: 'warn', ...pooledKey, ...until }]
}

const budgetConcerns = ({ day, month, ...key }: KeyBudget): readonly Concern[] =>
  (
    [
      ['month', month],
      ['day', day],
    ] as const
  ).flatMap(([period, budget]) => {
    if (budget === undefined || budget.spent < BUDGET_ALERT_SHARE * budget.limit) return []
    const severity = budget.spent >= budget.limit ? 'bad' : 'warn'
    return [{ kind: 'budget', severity, ...key, period, budget } as const]
  })

const limitConcern = ({ by, keyName, requests }: UsageGroup): Concern => ({
  ...{ kind: 'limited', severity: 'bad', requests },
  ...defined({ key: by.key, key_name: keyName, group: by.group }),
})

/** Lists models with requests of unknown cost, those with the most requests first. */
function priceConcerns(models: readonly UsageGroup[]): readonly Concern[] {
  const requests = new Map<string, number>()
  for (const { by, unpriced } of models)
    if (by.model !== undefined && unpriced > 0) requests.set(by.model, (requests.get(by.model) ?? 0) + unpriced)
  return [...requests]
    .sort(([, one], [, other]) => other - one)
    .map(([model, count]) => ({ kind: 'unpriced', severity: 'warn', model, requests: count }))
}
