import fc from 'fast-check'
import type { JsonObject } from '../../../src/canonical/node.ts'
import type { WireRequest } from '../../../src/canonical/wire.ts'
import { filled, object, record, word } from '../arbitrary.ts'
import { CHAT_COUNTS, usageIn } from '../counts.ts'
import { maybeNull } from '../loose.ts'
import { plus } from './chat.ts'

/* Text-completions values as clients and upstreams write them, with random unknown fields. */
const tokens = fc.array(fc.nat(200_000), { maxLength: 4 })
const prompt = fc.oneof(
  { weight: 4, arbitrary: word },
  { weight: 2, arbitrary: fc.array(word, { maxLength: 3 }) },
  { weight: 2, arbitrary: tokens },
  { weight: 2, arbitrary: fc.array(tokens, { maxLength: 3 }) },
  { weight: 1, arbitrary: fc.array(fc.oneof(word, tokens), { maxLength: 3 }) },
  { weight: 1, arbitrary: fc.constant(null) },
)

const options = plus(record({}, { include_usage: maybeNull(fc.boolean()), include_obfuscation: fc.boolean() }))

const body = plus(
  record(
    { model: filled, prompt },
    {
      suffix: maybeNull(word),
      echo: maybeNull(fc.boolean()),
      stream: maybeNull(fc.boolean()),
      stream_options: maybeNull(options),
      max_tokens: maybeNull(fc.nat()),
      temperature: maybeNull(fc.nat(2)),
      top_p: fc.nat(1),
      frequency_penalty: fc.nat(1),
      presence_penalty: fc.nat(1),
      seed: fc.nat(),
      n: maybeNull(fc.integer({ min: 1, max: 4 })),
      stop: maybeNull(fc.oneof(word, fc.array(word, { maxLength: 3 }))),
      logprobs: maybeNull(fc.nat(5)),
      best_of: fc.nat(4),
      logit_bias: maybeNull(object(fc.nat())),
      user: filled,
    },
  ),
)

export const request: fc.Arbitrary<WireRequest> = body.map(body => ({
  path: '/completions',
  query: {},
  headers: {},
  body,
}))

const rated = fc
  .array(
    fc.tuple(word, maybeNull(fc.constantFrom(-0.5, -1, 0)), maybeNull(object(fc.constantFrom(-0.1, -2))), fc.nat(30)),
    { maxLength: 3 },
  )
  .map(rows => ({
    tokens: rows.map(([token]) => token),
    token_logprobs: rows.map(([, logprob]) => logprob),
    top_logprobs: rows.map(([, , top]) => top),
    text_offset: rows.map(([, , , offset]) => offset),
  }))

const choice = (index: number) =>
  plus(
    record(
      { index: fc.constant(index), text: word },
      {
        finish_reason: maybeNull(fc.constantFrom('stop', 'length', 'content_filter', 'x_bored')),
        logprobs: maybeNull(plus(rated)),
      },
    ),
  )

const usage = plus(
  fc.oneof(
    usageIn(CHAT_COUNTS),
    record(
      { prompt_tokens: fc.nat(99), completion_tokens: fc.nat(99), total_tokens: fc.nat(199) },
      {
        prompt_tokens_details: maybeNull(
          plus(record({}, { cached_tokens: fc.nat(), audio_tokens: maybeNull(fc.nat()) })),
        ),
        completion_tokens_details: plus(record({}, { reasoning_tokens: fc.nat() })),
      },
    ),
  ),
)

export const result: fc.Arbitrary<JsonObject> = plus(
  record(
    {
      id: filled,
      object: fc.constantFrom('text_completion', 'x_completion'),
      created: fc.nat(),
      model: filled,
      choices: fc.oneof(fc.tuple(choice(0)), fc.tuple(choice(0), choice(1)), fc.tuple(choice(3))),
    },
    { usage: maybeNull(usage), service_tier: maybeNull(word), system_fingerprint: maybeNull(word) },
  ),
)
