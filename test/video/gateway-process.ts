import { openServer } from '../../src/server/index.ts'

/*
 * A gateway in a separate process that can be killed. Its config comes in an environment variable. Its address goes to
 * the parent.
 */

const config = JSON.parse(process.env['VIDEO_CONFIG']!, (_, value) =>
  value !== null && typeof value === 'object' && Array.isArray(value.map) ? new Map(value.map) : value,
)
const silent = { info: () => {}, warn: () => {}, error: () => {} }
const server = await openServer({ config, log: silent })
process.stdout.write(`${server.address}\n`)
