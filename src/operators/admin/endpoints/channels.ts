import * as v from 'valibot'
import { defined, type Format, type JsonObject } from '../../../canonical/node.ts'
import type { Work } from '../../../canonical/work.ts'
import type { ChannelConfig, ChannelFormat } from '../../../config/index.ts'
import { fields, text, word } from '../../../config/schema.ts'
import { CALLER_FORMATS, DIALECT_FLAGS, FORMAT_FACTS } from '../../../formats/index.ts'
import type { ChannelCheck } from '../../../gateway/channel-check.ts'
import { hasRole, type Principal } from '../../sign-in/index.ts'
import type { Administration } from '../administration.ts'
import { CHANNEL_AUDIT, type Recording } from '../audit.ts'
import { endpoint } from '../endpoint.ts'
import { Problem } from '../problem.ts'
import { allOf, CHANNEL, CHANNEL_DETAILS, CHANNEL_TEST } from '../shapes.ts'
import { channelViews, currentView, storedChannel } from './channel-view.ts'

const name = fields({ name: word })

const listChannels = endpoint({
  method: 'get',
  path: '/channels',
  operation: 'listChannels',
  summary: 'Lists the channels in config order, with their state across all processes of this machine.',
  answer: allOf(CHANNEL),
  handle: async gateway => ({ data: channelViews(gateway, await gateway.states()) }),
})

const getChannel = endpoint({
  method: 'get',
  path: '/channels/{name}',
  operation: 'getChannel',
  summary: 'Returns a channel, with the dialect of each of its formats.',
  params: name,
  answer: CHANNEL_DETAILS,
  problems: ['not-found'],
  handle: (gateway, { params }, principal) => details(gateway, params.name, principal),
})

/** Formats a channel with its dialects and, for admins, its stored config. */
export async function details(gateway: Administration, name: string, { role }: Principal) {
  const config = gateway.config.channels.find(one => one.name === name)
  const stored = storedChannel(gateway, name)
  return {
    ...(await currentView(gateway, name)),
    ...(stored === undefined || !hasRole(role, 'admin') ? {} : { config: stored.entry.settings }),
    dialects: config?.formats.map(dialectView) ?? [],
  }
}

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
  audit: 'channel',
  summary: 'Stops sending new requests to a channel, at every process. Running requests continue.',
  params: name,
  answer: CHANNEL,
  problems: ['not-found'],
  handle: (gateway, { params }, _, recording) => drain(gateway, params.name, true, recording),
})

const resumeChannel = endpoint({
  method: 'post',
  path: '/channels/{name}/resume',
  operation: 'resumeChannel',
  audit: 'channel',
  summary: 'Sends requests to a drained channel again.',
  params: name,
  answer: CHANNEL,
  problems: ['not-found'],
  handle: (gateway, { params }, _, recording) => drain(gateway, params.name, false, recording),
})

const testChannel = endpoint({
  method: 'post',
  path: '/channels/{name}/test',
  operation: 'testChannel',
  summary:
    'Lists the models of a channel and sends it one small test request, whatever its state. Takes up to 40 seconds.',
  params: name,
  body: fields({ model: v.optional(text()) }),
  answer: CHANNEL_TEST,
  problems: ['not-found'],
  handle: async (gateway, { params, body }) => {
    configOf(gateway, params.name)
    return testView(await gateway.test(params.name, body.model))
  },
})

/** Maximum number of listed models in an answer. */
const MAX_MODELS = 1000

/** Formats the result of a test. */
export const testView = ({ test, findings, models, does }: ChannelCheck) => {
  const { ok, work, model, format, latency, status, text, error } = test
  return {
    ...{ ok, work, latency_ms: latency },
    ...defined({ model, format, status, text, error }),
    ...(models === undefined ? {} : { models: models.slice(0, MAX_MODELS), model_count: models.length }),
    ...{ findings, does },
  }
}

async function drain(gateway: Administration, name: string, isDrained: boolean, recording: Recording) {
  configOf(gateway, name)
  if (await gateway.records.drain(name, isDrained, recording(CHANNEL_AUDIT))) await gateway.changed()
  return currentView(gateway, name)
}

function configOf({ config }: Administration, name: string): ChannelConfig {
  const channel = config.channels.find(one => one.name === name)
  if (channel === undefined) throw new Problem('not-found', 'There is no such channel.')
  return channel
}

/** Endpoints for channels: list, read, drain, resume, test. */
export const CHANNELS = [listChannels, getChannel, drainChannel, resumeChannel, testChannel]
