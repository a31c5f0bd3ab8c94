import { isObject, type Json, type JsonObject } from '../../../src/canonical/node.ts'
import { WRITERS } from '../../../src/egress/index.ts'
import { publicError } from '../../../src/gateway/public-answer.ts'
import { READERS } from '../../../src/ingress/index.ts'
import type { Target } from '../../../src/upstreams/router.ts'
import { channelAt } from '../../builders/config.ts'
import { SECRETS } from '../oracles.ts'
import { Broken, type Target as FuzzTarget, type Watch } from '../target.ts'

/*
 * Error answers of upstreams, which quote the gateway's key and the upstream's address. They are read in any shape, and
 * what a caller sees of them has neither.
 */

const { key, host } = SECRETS
const BASE_URL = `http://${host}:8443/v1`

/** Messages as upstreams write them. */
const MESSAGES = [
  `Incorrect API key provided: ${key}. You can find your API key at https://${host}/keys.`,
  `model 'upstream-model' not found at ${BASE_URL}/chat/completions`,
  `getaddrinfo ENOTFOUND ${host}`,
  `Header x-api-key: ${key} is invalid (request to ${BASE_URL})`,
  "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.",
  'Your credit balance is too low to access the API.',
]

const SHAPES: readonly ((message: string) => Json)[] = [
  message => ({ error: { message, type: 'invalid_request_error', param: 'a', code: 'model_not_found' } }),
  message => ({ type: 'error', error: { type: 'overloaded_error', message }, request_id: 'req_1' }),
  message => ({ error: { code: 400, status: 'INVALID_ARGUMENT', message, details: [{ retryDelay: '3s' }] } }),
  message => [{ error: { code: 429, status: 'RESOURCE_EXHAUSTED', message } }],
  message => ({ message, __type: 'ValidationException' }),
  message => ({ detail: { status: 'quota_exceeded', message } }),
  message => ({ code: 1002, message, request_id: 'r' }),
  message => ({ err_code: 'INVALID_AUTH', err_msg: message, request_id: 'r' }),
  message => ({ error: message }),
  message => ({ detail: [{ loc: ['body', 'model'], msg: message, type: 'missing' }] }),
]

const HEADERS: JsonObject = { 'retry-after': '5', 'content-type': 'application/json' }

export const ERROR_ANSWERS: readonly FuzzTarget[] = Object.keys(READERS)
  .filter(format => READERS[format]!.error !== undefined)
  .map(format => ({
    name: `error:${format}`,
    inputs: `error answers of upstreams in the format ${format}`,
    files: new RegExp(`^src/ingress/(${format}/error|errors/)`),
    seeds: () =>
      SHAPES.flatMap((shape, index) =>
        [MESSAGES[index % MESSAGES.length]!, MESSAGES[(index + 3) % MESSAGES.length]!].map((message, more) => ({
          ...{ status: 400 + ((index * 7 + more) % 30), headers: HEADERS, body: shape(message) },
        })),
      ),
    run: (input, watch) => {
      if (isObject(input)) check(format, input, watch)
    },
  }))

function check(format: string, { status, headers, body }: JsonObject, watch: Watch): void {
  const answer = {
    status: typeof status === 'number' && status >= 400 && status < 600 ? Math.trunc(status) : 500,
    headers: Object.fromEntries(
      Object.entries(isObject(headers) ? headers : {}).filter(
        (one): one is [string, string] => typeof one[1] === 'string',
      ),
    ),
    body: isObject(body) ? body : {},
  }
  const error = READERS[format]!.error!(answer)
  watch.returned(error)
  if (typeof error.message !== 'string') throw new Broken('error', 'has no message')
  const { retryAfterSeconds: delay = 0 } = error
  if (!(delay >= 0 && delay <= 86_400)) throw new Broken('error', `has a delay of ${delay} s`)
  const shown = publicError(error, TARGET, 'model')
  for (const caller of CALLERS) watch.said(JSON.stringify(WRITERS[caller]!.error!(shown, 'req_1').body))
}

const CALLERS = ['chat', 'messages', 'contents', 'responses', 'converse']

const channel = channelAt('', { baseUrl: BASE_URL, key })
const TARGET: Target = {
  ...{ channel, format: channel.formats[0]!, native: false, emulated: false, resting: false },
  upstreamModel: 'upstream-model',
}
