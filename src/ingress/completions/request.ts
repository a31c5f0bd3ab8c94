import type { Json, JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest, Output, Sampling } from '../../canonical/request.ts'
import type { WireRequest } from '../../canonical/wire.ts'
import { readValidated } from '../errors/validation-error.ts'
import { count, defined, flag, number, required, rest, spelling, text } from '../fields.ts'
import { readSharedSampling } from '../openai-sampling.ts'
import { withStreamOptions } from '../stream-options.ts'
import { FORMAT, readPrompt } from './prompt.ts'
import * as wire from './wire.ts'

/** `POST /v1/completions` (FORMATS §3) as a canonical request: each prompt is a message to continue. */
export const readRequest = ({ body }: WireRequest): CanonicalRequest =>
  readValidated(wire.request, body, () => read(body))

function read(body: JsonObject): CanonicalRequest {
  const { messages, spelt } = readPrompt(body['prompt'])
  return {
    model: required(text(body['model'])),
    messages,
    output: readOutput(body),
    sampling: readSampling(body),
    ...defined({ endUser: text(body['user']) }),
    stream: flag(body['stream']) ?? false,
    ...withStreamOptions(FORMAT, body, rest(FORMAT, body, TAKEN, spell(body, spelt))),
  }
}

const TAKEN = new Set([
  ...['model', 'prompt', 'suffix', 'echo', 'stream', 'stream_options', 'max_tokens', 'temperature', 'top_p', 'n'],
  ...['frequency_penalty', 'presence_penalty', 'seed', 'stop', 'logprobs', 'user'],
])

const readOutput = (body: JsonObject): Output => ({
  ...defined({ candidates: count(body['n']) }),
  completion: defined({ suffix: text(body['suffix']), echo: flag(body['echo']) }),
})

function readSampling(body: JsonObject): Sampling {
  return defined({
    maxTokens: number(body['max_tokens']),
    ...readSharedSampling(body),
    logprobs: number(body['logprobs']),
  })
}

/** A list of one prompt, a string for a list of one stop, explicit defaults: all without meaning. */
const spell = (body: JsonObject, prompt: Json | undefined): JsonObject | undefined =>
  spelling({
    prompt,
    stop: typeof body['stop'] === 'string' ? 'string' : undefined,
    stream: body['stream'] === false ? false : undefined,
  })
