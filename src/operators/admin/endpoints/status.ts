import { defined } from '../../../canonical/node.ts'
import { instantOf } from '../../../config/schema.ts'
import { CALLER_FORMATS } from '../../../formats/index.ts'
import { RUNNING_FROM } from '../../../root.ts'
import { endpoint } from '../endpoint.ts'
import { SETTINGS, STATUS } from '../shapes.ts'

const getStatus = endpoint({
  method: 'get',
  path: '/status',
  operation: 'getStatus',
  summary: 'Returns the version, health and warnings of this instance.',
  answer: STATUS,
  handle: async gateway => {
    const { config, version, instance, startedAt } = gateway
    const { store, redis } = await gateway.health()
    return {
      ...{ version, running: RUNNING_FROM, instance, started_at: instantOf(startedAt) },
      uptime_seconds: Math.round((Date.now() - startedAt) / 1000),
      workers: config.server.workers,
      store: { engine: config.store.engine, ...defined({ fault: store }) },
      ...(redis === undefined ? {} : { redis: { up: redis } }),
      channels: config.channels.length,
      warnings: gateway.warnings(),
    }
  },
})

const getSettings = endpoint({
  method: 'get',
  path: '/config',
  operation: 'getSettings',
  summary: 'Returns the config settings that the console needs.',
  answer: SETTINGS,
  handle: ({ config }) => ({
    public_urls: config.server.publicUrls,
    doors: [...CALLER_FORMATS.keys()],
    features: {
      usage: config.usage.retention > 0,
      stored_responses: config.responses.retention > 0,
      remembered_thoughts: config.reasoningMemory.retention > 0,
      realtime_cascade: config.realtime.cascade !== undefined,
      media_fetch: config.media.fetch,
      metrics: config.metrics.listen !== undefined || config.metrics.keyHash !== undefined,
      traces: config.traces !== undefined,
      redis: config.redis !== undefined,
      tls: config.server.tls !== undefined,
    },
  }),
})

/** Endpoints for the state and the settings of the instance. */
export const STATUS_ENDPOINTS = [getStatus, getSettings]
