import * as v from 'valibot'
import type { JsonObject } from '../../canonical/node.ts'
import { DOORS } from '../../providers/index.ts'
import { type Endpoint, endpoint, type LiveAnswer } from '../endpoint.ts'
import { invalidInput } from '../problem.ts'
import { fields, oneOf, text, word } from '../schema.ts'
import { doorOf, triedCall } from '../tried-call.ts'
import { fixedId } from '../views.ts'

const json = v.record(v.string(), v.unknown(), 'expected an object') as v.GenericSchema<JsonObject>

const tryRequest = endpoint({
  method: 'post',
  path: '/try',
  operation: 'tryRequest',
  summary:
    'Sends a request to a door as a key, whose permissions, limits and usage count. The answer comes as the door sends it; x-interlingua-status has its status.',
  body: fields({
    key: word,
    format: oneOf([...DOORS.keys()]),
    path: v.optional(v.pipe(text(2000), v.startsWith('/', 'begins with no slash'))),
    headers: v.optional(v.record(v.string(), text(1000))),
    body: json,
  }),
  live: ['application/json', 'text/event-stream', 'application/octet-stream'],
  handle: async (gateway, { body: tried }): Promise<LiveAnswer> => {
    const { config, records } = gateway
    const isKey = config.keys.some(key => fixedId(key) === tried.key) || (await records.key(tried.key)) !== undefined
    if (!isKey) throw invalidInput({ pointer: '/key', detail: 'there is no key of this id' })
    const { path, headers, ...rest } = tried
    const request = { ...rest, ...(path === undefined ? {} : { path }), ...(headers === undefined ? {} : { headers }) }
    const door = doorOf(request, config.tasks.vendorPath)
    return exchange => gateway.handle(triedCall(request, door, exchange))
  },
})

export const TRY: readonly Endpoint[] = [tryRequest]
