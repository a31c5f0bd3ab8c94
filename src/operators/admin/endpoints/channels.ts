import * as v from 'valibot'
import { defined, type Format, type JsonObject } from '../../../canonical/node.ts'
import type { Work } from '../../../canonical/work.ts'
import type { ChannelConfig, ChannelFormat } from '../../../config/index.ts'
import { fields, instantOf, text, word } from '../../../config/schema.ts'
import { CALLER_FORMATS, DIALECT_FLAGS, FORMAT_FACTS } from '../../../formats/index.ts'
import type { ChannelState } from '../../../gateway/channel-states.ts'
import type { ChannelTest } from '../../../gateway/channel-test.ts'
import { type ErrorGroup, failingSince } from '../../../upstreams/channel/health.ts'
import type { Administration } from '../administration.ts'
import type { Audit } from '../audit.ts'
import { endpoint } from '../endpoint.ts'
import { Problem } from '../problem.ts'
import { rateOf } from '../rates.ts'
import { allOf, CHANNEL, CHANNEL_DETAILS, CHANNEL_TEST } from '../shapes.ts'
import { keysView } from './channel-keys.ts'

const AUDIT: Audit = {
  ...{ kind: 'channel', param: 'name' },
  read: async (gateway, name) => ({ name, drained: (await gateway.states())[name]?.drained ?? false }),
}

const name = fields({ name: word })

const listChannels = endpoint({
  method: 'get',
  path: '/channels',
  operation: 'listChannels',
  summary: 'Lists the channels in config order, with their state across all processes of this machine.',
  answer: allOf(CHANNEL),
  handle: async gateway => {
    const states = await gateway.states()
    return { data: gateway.config.channels.map(config => channelView(gateway, config, states[config.name])) }
  },
})

const getChannel = endpoint({
  method: 'get',
  path: '/channels/{name}',
  operation: 'getChannel',
  summary: 'Returns a channel, with the dialect of each of its formats.',
  params: name,
  answer: CHANNEL_DETAILS,
  problems: ['not-found'],
  handle: async (gateway, { params }) => ({
    ...(await currently(gateway, params.name)),
    dialects: configOf(gateway, params.name).formats.map(dialectView),
  }),
})

/** Formats a dialect. A flag that has no effect in the format gets no description. */
const dialectView = ({ format, dialect }: ChannelFormat) => ({
  ...{ format, native: CALLER_FORMATS.has(format), does: worksOf(format, dialect) },
  flags: Object.entries(dialect).map(([flag, value]) => {
    const found = DIALECT_FLAGS.get(flag)
    return { name: flag, value, ...(found?.formats.includes(format) === true ? { meaning: found.meaning } : {}) }
  }),
})

const worksOf = (format: Format, dialect: JsonObject): readonly Work[] =>
  (FORMAT_FACTS.get(format)?.does ?? []).filter(work => dialect[work] !== false)

const drainChannel = endpoint({
  method: 'post',
  path: '/channels/{name}/drain',
  operation: 'drainChannel',
  audit: AUDIT,
  summary: 'Stops sending new requests to a channel, at every process. Running requests continue.',
  params: name,
  answer: CHANNEL,
  problems: ['not-found'],
  handle: (gateway, { params }) => drain(gateway, params.name, true),
})

const resumeChannel = endpoint({
  method: 'post',
  path: '/channels/{name}/resume',
  operation: 'resumeChannel',
  audit: AUDIT,
  summary: 'Sends requests to a drained channel again.',
  params: name,
  answer: CHANNEL,
  problems: ['not-found'],
  handle: (gateway, { params }) => drain(gateway, params.name, false),
})

const testChannel = endpoint({
  method: 'post',
  path: '/channels/{name}/test',
  operation: 'testChannel',
  summary: 'Sends one small test request to a channel, whatever its state. Takes up to 30 seconds.',
  params: name,
  body: fields({ model: v.optional(text()) }),
  answer: CHANNEL_TEST,
  problems: ['not-found'],
  handle: async (gateway, { params, body }) => {
    configOf(gateway, params.name)
    return testView(await gateway.test(params.name, body.model))
  },
})

const testView = ({ ok, work, model, format, latency, status, text, error }: ChannelTest) => ({
  ...{ ok, work, latency_ms: latency },
  ...defined({ model, format, status, text, error }),
})

async function drain(gateway: Administration, name: string, isDrained: boolean) {
  configOf(gateway, name)
  if (await gateway.records.drain(name, isDrained)) await gateway.changed()
  return currently(gateway, name)
}

const currently = async (gateway: Administration, name: string) =>
  channelView(gateway, configOf(gateway, name), (await gateway.states())[name])

function configOf({ config }: Administration, name: string): ChannelConfig {
  const channel = config.channels.find(one => one.name === name)
  if (channel === undefined) throw new Problem('not-found', 'There is no such channel.')
  return channel
}

/** Returns a channel's state. If several apply, the one that needs an operator first. */
export function stateName(
  { maxConcurrent = Number.POSITIVE_INFINITY }: ChannelConfig,
  state: ChannelState,
  workers: number,
): 'ok' | 'failing' | 'resting' | 'drained' | 'full' {
  if (state.drained) return 'drained'
  if (failingSince(state.stats) !== undefined) return 'failing'
  if (state.inFlight >= maxConcurrent * workers) return 'full'
  const isResting = state.restingUntil !== undefined || areAll(state.keys, one => one.restingUntil !== undefined)
  return isResting ? 'resting' : 'ok'
}

/** Whether a channel has keys and all of them are in a state. */
const areAll = (keys: ChannelState['keys'] = {}, is: (key: ChannelState) => boolean): boolean => {
  const all = Object.values(keys)
  return all.length > 0 && all.every(is)
}

const UNKNOWN: ChannelState = { inFlight: 0, drained: false, resting: [], stats: { minutes: [], errors: [] } }

const errorView = ({ at, firstAt, count, kind, reason, status, model, message, key, request }: ErrorGroup) => ({
  ...{ at: instantOf(at), first_at: instantOf(firstAt), count, kind, reason, model, message },
  ...defined({ status, key, request }),
})

function channelView({ config: { server } }: Administration, config: ChannelConfig, state: ChannelState = UNKNOWN) {
  const { models, maxConcurrent } = config
  const failing = failingSince(state.stats)
  return {
    ...{ name: config.name, provider: config.provider, formats: config.formats.map(({ format }) => format) },
    ...{ models: Object.fromEntries(models.named), patterns: models.patterns },
    ...{ priority: config.priority, weight: config.weight },
    ...{ state: stateName(config, state, server.workers), in_flight: state.inFlight },
    ...defined({
      max_concurrent: maxConcurrent,
      listed: state.listed,
      failing_since: failing === undefined ? undefined : instantOf(failing),
      resting_until: state.restingUntil === undefined ? undefined : instantOf(state.restingUntil),
    }),
    resting_models: state.resting.map(([model, until]) => ({ model, until: instantOf(until) })),
    last_5_minutes: rateOf(state.stats, 5),
    last_60_minutes: rateOf(state.stats, 60),
    last_errors: state.stats.errors.map(errorView),
    ...(config.keys === undefined ? {} : keysView(config.keys, state, server.workers)),
  }
}

/** Endpoints for channels: list, read, drain, resume, test. */
export const CHANNELS = [listChannels, getChannel, drainChannel, resumeChannel, testChannel]
