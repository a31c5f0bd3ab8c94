import { CallIds } from '../../canonical/call-ids.ts'
import type { JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { WireRequest } from '../../canonical/wire.ts'
import { readValidated } from '../errors/validation-error.ts'
import { object, objects, required, text, withDefined } from '../fields.ts'
import { type Address, modelMark, NO_METHOD, readAddress } from './address.ts'
import { readContents, readInstruction } from './content.ts'
import { counts, unwrapped } from './count.ts'
import { listed, nodeOf, open, remainsOf, single } from './fields.ts'
import { readGeneration } from './generation.ts'
import { readToolConfig, readTools } from './tools.ts'
import * as wire from './wire.ts'

/** `POST /{version}/models/{model}:generateContent` and `:streamGenerateContent` (FORMATS §7) as a canonical request. */
export function readRequest(request: WireRequest): CanonicalRequest {
  const address = readAddress(request.path)
  if (counts(address.method)) return readCounting(request, address)
  const stream = Object.hasOwn(STREAMS, address.method) ? STREAMS[address.method] : undefined
  if (stream === undefined) throw NO_METHOD
  return readValidated(
    () => wire.requestAt(request),
    request.body,
    () => read(request, address, stream),
  )
}

/** `:countTokens`, which takes the same request, wrapped or not. */
const readCounting = (incoming: WireRequest, address: Address): CanonicalRequest =>
  readValidated(
    () => wire.requestAt(incoming),
    incoming.body,
    () => unwrapped(incoming.body, body => read({ ...incoming, body }, address, false)),
  )

const STREAMS: { readonly [method: string]: boolean } = { generateContent: false, streamGenerateContent: true }

const TAKEN = new Set([
  ...['model', 'contents', 'systemInstruction', 'tools', 'toolConfig', 'generationConfig', 'labels', 'serviceTier'],
])

/** With the format's own fields, so that each is read under one name. */
const KNOWN = new Set([...TAKEN, 'safetySettings', 'cachedContent', 'store'])

function read({ body, query }: WireRequest, { model, place }: Address, stream: boolean): CanonicalRequest {
  const opened = open(body, KNOWN)
  const { fields } = opened
  const ids = new CallIds()
  const system = readInstruction(fields['systemInstruction'], ids)
  const messages = readContents(required(objects(listed(fields['contents']))), ids)
  const { tools, groups } = readTools(fields['tools'])
  const { choice, remains: toolConfig } = readToolConfig(fields['toolConfig'])
  const { output, sampling, reasoning, remains: generationConfig } = readGeneration(fields['generationConfig'])
  const tier = readTier(text(fields['serviceTier']))
  const spelt = {
    ...place,
    query: isUsual(query, stream) ? undefined : query,
    model: modelMark(text(fields['model']), model),
    contents: single(fields['contents']),
    tools: groups,
    serviceTier: tier.spelt,
  }
  const node = nodeOf(remainsOf(opened, TAKEN, spelt, { toolConfig, generationConfig }))
  return withDefined(
    { model, messages: [...system, ...messages], output, sampling, stream },
    {
      tools,
      toolChoice: choice,
      reasoning,
      metadata: object(fields['labels']),
      serviceTier: tier.tier,
      extras: node.extras,
      spelling: node.spelling,
    },
  )
}

/** Streams are requested as server-sent events. */
function isUsual(query: JsonObject, stream: boolean): boolean {
  const keys = Object.keys(query)
  return stream ? keys.length === 1 && query['alt'] === 'sse' : keys.length === 0
}

const TIERS: { readonly [tier: string]: string } = { standard: 'default' }

function readTier(value: string | undefined): {
  readonly tier?: string | undefined
  readonly spelt?: string | undefined
} {
  if (value === undefined) return {}
  const lower = value.toLowerCase()
  const tier = Object.hasOwn(TIERS, lower) ? TIERS[lower]! : lower
  return { tier, spelt: value === (tier === 'default' ? 'standard' : tier) ? undefined : value }
}
