import type { WireRequest } from '../../canonical/exchange.ts'
import type { Json, JsonObject, Node } from '../../canonical/node.ts'
import type { CanonicalRequest, Output, Sampling } from '../../canonical/request.ts'
import { explained } from '../explain.ts'
import { defined, flag, number, object, required, rest, spelling, text, texts } from '../fields.ts'
import { FORMAT, readPrompt } from './prompt.ts'
import * as wire from './wire.ts'

/** `POST /v1/completions` (FORMATS §3) as a canonical request: each prompt is a message to go on from. */
export const readRequest = ({ body }: WireRequest): CanonicalRequest => explained(wire.request, body, () => read(body))

function read(body: JsonObject): CanonicalRequest {
  const { messages, spelt } = readPrompt(body['prompt'])
  return {
    model: required(text(body['model'])),
    messages,
    output: readOutput(body),
    sampling: readSampling(body),
    ...defined({ endUser: text(body['user']) }),
    stream: flag(body['stream']) ?? false,
    ...withStreamOptions(body, rest(FORMAT, body, TAKEN, spell(body, spelt))),
  }
}

const TAKEN = new Set([
  ...['model', 'prompt', 'suffix', 'echo', 'stream', 'stream_options', 'max_tokens', 'temperature', 'top_p', 'n'],
  ...['frequency_penalty', 'presence_penalty', 'seed', 'stop', 'logprobs', 'user'],
])

const readOutput = (body: JsonObject): Output => ({
  ...defined({ candidates: number(body['n']) }),
  completion: defined({ suffix: text(body['suffix']), echo: flag(body['echo']) }),
})

function readSampling(body: JsonObject): Sampling {
  const stop = body['stop']
  return defined({
    maxTokens: number(body['max_tokens']),
    temperature: number(body['temperature']),
    topP: number(body['top_p']),
    frequencyPenalty: number(body['frequency_penalty']),
    presencePenalty: number(body['presence_penalty']),
    seed: number(body['seed']),
    stop: typeof stop === 'string' ? [stop] : texts(stop),
    logprobs: number(body['logprobs']),
  })
}

/** A list of one prompt, a string for a list of one stop, an explicit default: none of it is meaning. */
const spell = (body: JsonObject, prompt: Json | undefined): JsonObject | undefined =>
  spelling({
    prompt,
    stop: typeof body['stop'] === 'string' ? 'string' : undefined,
    stream: body['stream'] === false ? false : undefined,
  })

/** Whether usage is wanted in a stream is the caller's spelling, as in chat. */
function withStreamOptions(body: JsonObject, node: Node): Node {
  const options = object(body['stream_options'])
  if (options === undefined) return node
  const { include_usage, ...others } = options
  const spelt = { ...node.spelling?.[FORMAT], stream_options: include_usage === undefined ? {} : { include_usage } }
  const extras =
    Object.keys(others).length === 0 ? node.extras?.[FORMAT] : { ...node.extras?.[FORMAT], stream_options: others }
  return { ...(extras === undefined ? {} : { extras: { [FORMAT]: extras } }), spelling: { [FORMAT]: spelt } }
}
