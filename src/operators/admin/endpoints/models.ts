import * as v from 'valibot'
import type { Permissions } from '../../../accounts/index.ts'
import { permissionsOf } from '../../../accounts/permissions.ts'
import { defined } from '../../../canonical/node.ts'
import { fields, word } from '../../../config/schema.ts'
import type { FallbackModel } from '../../../formats/model-facts.ts'
import type { ChannelStates } from '../../../gateway/channel-states.ts'
import type { ModelOverview } from '../../../gateway/model-overview.ts'
import type { Rates } from '../../../upstreams/catalogue/index.ts'
import { operatorPricesOf } from '../../../upstreams/catalogue/rates.ts'
import type { Administration } from '../administration.ts'
import { endpoint } from '../endpoint.ts'
import { priceView } from '../price-view.ts'
import { invalidInput } from '../problem.ts'
import { allOf, CATALOGUE, MODEL } from '../shapes.ts'
import { isValidKey } from '../valid-key.ts'
import { fixedId } from '../views.ts'
import { stateName } from './channel-view.ts'
import { isFixed } from './groups.ts'

const listModels = endpoint({
  method: 'get',
  path: '/models',
  operation: 'listModels',
  summary: 'Lists the models by public id: all of them, or only those that the key with the given id may call.',
  query: fields({ key: v.optional(word) }),
  answer: fields({ ...allOf(MODEL).entries, catalogue: CATALOGUE }),
  handle: async (gateway, { query: { key } }) => {
    const { permissions, fallbacks } = key === undefined ? UNRESTRICTED_VIEW : await viewOfKey(gateway, key)
    const { catalogue } = gateway
    if (permissions === undefined) return { data: [], catalogue }
    const stateOf = channelStateOf(gateway.config, await gateway.states())
    return { data: gateway.models(permissions).map(model => modelView(model, stateOf, fallbacks)), catalogue }
  },
})

const ALL_PERMISSIONS = permissionsOf(
  { limits: {}, enabled: true },
  { name: '', models: ['*'], limits: {}, onLoss: 'show' },
)

/** Permissions and fallback models that a list of models reflects. */
interface View {
  /** Permissions of the key, or undefined if the key is not valid. */
  readonly permissions: Permissions | undefined
  /** Fallbacks for models that have none of their own. */
  readonly fallbacks?: readonly FallbackModel[] | undefined
}

const UNRESTRICTED_VIEW: View = { permissions: ALL_PERMISSIONS }

/** Returns the permissions of a key and the fallbacks of its group. */
async function viewOfKey({ config, records }: Administration, id: string): Promise<View> {
  const key = config.keys.find(one => fixedId(one) === id) ?? (await records.key(id))
  if (key === undefined) throw invalidInput({ parameter: 'key', detail: 'there is no key with this id' })
  const fixed = config.groups.get(key.group)
  const stored = isFixed(config, key.group) ? fixed : (await records.groups()).find(({ name }) => name === key.group)
  const group = stored ?? fixed
  if (group === undefined || !isValidKey(key, Date.now())) return { permissions: undefined }
  return { permissions: permissionsOf(key, group), fallbacks: group.fallbacks }
}

/** Returns a function for the state of a channel, with the rests and latencies of its models. */
function channelStateOf({ channels, server }: Administration['config'], states: ChannelStates) {
  const configs = new Map(channels.map(one => [one.name, one]))
  return (name: string) => {
    const [channel, state] = [configs.get(name), states[name]]
    const isKnown = channel !== undefined && state !== undefined
    return { ...state, name: isKnown ? stateName(channel, state, server.workers) : ('ok' as const) }
  }
}

function modelView(
  { id, facts: own, interface: spoken, known: facts, abilities, native, translated, channels }: ModelOverview,
  stateOf: ReturnType<typeof channelStateOf>,
  groupFallbacks: readonly FallbackModel[] | undefined,
) {
  const { converses, draws, speaks, embeds } = abilities
  const hasAbility = { converse: converses, draw: draws, speak: speaks, embed: embeds }
  return {
    ...{ id, native, translated },
    ...defined({
      ...{ name: facts.name, description: facts.description, interface: spoken },
      ...{ context: facts.context, max_output: facts.maxOutput },
      ...{ input: facts.input, output: facts.output, reasoning: facts.reasoning, tools: facts.tools },
      price: pricesView(facts.rates),
    }),
    order: own?.order ?? ('weight' as const),
    ...defined({ fallbacks: (own?.fallbacks ?? groupFallbacks)?.map(({ model, on }) => ({ model, on: [...on] })) }),
    abilities: (['converse', 'draw', 'speak', 'embed'] as const).filter(name => hasAbility[name]),
    channels: channels.map(({ name, upstreamModel }) => {
      const { name: state, resting, latencies } = stateOf(name)
      const rests = resting?.some(([model]) => model === upstreamModel) === true
      const latency = latencies?.find(([model]) => model === upstreamModel)?.[1]
      return {
        ...{ name, upstream_model: upstreamModel, state: state === 'ok' && rests ? ('resting' as const) : state },
        ...(latency === undefined ? {} : { first_byte_ms: Math.round(latency) }),
      }
    }),
  }
}

/** Formats the prices of a model. Undefined if it has none. */
function pricesView(rates: Rates) {
  const prices = priceView(operatorPricesOf(rates))
  return Object.keys(prices).length === 0 ? undefined : prices
}

/** The endpoint that lists models. */
export const MODELS = [listModels]
