import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { bodyBytes, bytesOf } from '../../../src/kit/recordings/body.ts'
import { Recorder } from '../../../src/kit/recordings/recorder.ts'
import type { RecordedAnswer } from '../../../src/kit/recordings/recording.ts'

/* A secret that is spelled over tokens with log probabilities, and redaction beside integers beyond 2^53. */

const folder = mkdtempSync(join(tmpdir(), 'tokens-'))
const SECRET = /sk-[a-z0-9]{8}/
const secret = fc.stringMatching(/^sk-[a-z0-9]{8}$/)

async function recorded(url: string, type: string, chunks: readonly string[]): Promise<string> {
  let answer: RecordedAnswer | undefined
  const recorder = new Recorder({
    ...{ folder, redact: [String(SECRET)], warn: message => expect.fail(message) },
    onWritten: (_, recording) => {
      answer = recording.answer
    },
  })
  const request = { method: 'POST', url, headers: {}, body: Buffer.from('{"model":"m"}') }
  const arrived = chunks.map(text => ({ ms: 1, bytes: Buffer.from(text) }))
  const head = { status: 200, headers: { 'content-type': type }, ms: 1, isComplete: true }
  recorder.exchange(request, { ...head, chunks: arrived }, new Date())
  await recorder.close()
  const { body, chunks: kept } = answer!
  return kept === undefined ? bodyBytes(body).toString() : Buffer.concat(kept.map(bytesOf)).toString()
}

interface Token {
  readonly token: string
  readonly bytes?: readonly number[]
  readonly top_logprobs?: readonly Token[]
}

const bytesIn = (text: string): number[] => [...Buffer.from(text)]
const alternativeOf = (token: string) => ({ token, logprob: -1, bytes: bytesIn(token) })
const openaiToken = (token: string) => ({
  ...alternativeOf(token),
  top_logprobs: [alternativeOf(token), alternativeOf('other')],
})
const geminiToken = (token: string) => ({ token, tokenId: 7, logProbability: -1 })

/** Texts that the tokens and bytes anywhere in a value spell. */
function* spelledIn(value: unknown): Generator<string> {
  if (typeof value !== 'object' || value === null) return
  if (Array.isArray(value)) {
    if (value.every(item => typeof item === 'string')) yield value.join('')
    yield value.map(item => (item as Token | null)?.token ?? '').join('')
    yield value.map(item => Buffer.from((item as Token | null)?.bytes ?? []).toString()).join('')
    yield value.map(item => (item as Token | null)?.top_logprobs?.[0]?.token ?? '').join('')
    yield value.map(item => Buffer.from((item as Token | null)?.top_logprobs?.[0]?.bytes ?? []).toString()).join('')
    yield value.map(item => (item as { candidates?: readonly Token[] } | null)?.candidates?.[0]?.token ?? '').join('')
    const isProbabilities = value.every(item => Object.values(item ?? {}).every(one => typeof one === 'number'))
    if (isProbabilities) yield value.map(item => Object.keys(item ?? {})[0] ?? '').join('')
  }
  for (const item of Object.values(value)) yield* spelledIn(item)
}

type Place = (tokens: readonly string[]) => object

const WHOLE: readonly (readonly [name: string, url: string, place: Place])[] = [
  [
    'chat',
    '/v1/chat/completions',
    tokens => ({ choices: [{ index: 0, logprobs: { content: tokens.map(openaiToken) } }] }),
  ],
  [
    'responses',
    '/v1/responses',
    tokens => ({
      output: [{ type: 'message', content: [{ type: 'output_text', logprobs: tokens.map(openaiToken) }] }],
    }),
  ],
  [
    'completions',
    '/v1/completions',
    tokens => ({
      choices: [
        {
          index: 0,
          logprobs: {
            tokens,
            token_logprobs: tokens.map(() => -1),
            top_logprobs: tokens.map(one => ({ [one]: -1, other: -2 })),
          },
        },
      ],
    }),
  ],
  [
    'contents',
    '/v1beta/models/m:generateContent',
    tokens => ({
      candidates: [
        {
          logprobsResult: {
            topCandidates: tokens.map(one => ({ candidates: [geminiToken(one), geminiToken('other')] })),
            chosenCandidates: tokens.map(geminiToken),
          },
        },
      ],
    }),
  ],
]

const split = (text: string, cuts: readonly number[]): readonly string[] => {
  const offsets = [0, ...cuts.map(cut => cut % text.length).sort((a, b) => a - b), text.length]
  return offsets.slice(1).map((end, index) => text.slice(offsets[index]!, end))
}

const cuts = fc.array(fc.nat(100), { minLength: 1, maxLength: 8 })

describe.each(WHOLE)('tokens of %s', (_, url, place) => {
  test('in a whole answer', async () => {
    await fc.assert(
      fc.asyncProperty(secret, cuts, async (hidden, at) => {
        const tokens = split(`It is ${hidden} now`, at)
        const answer = place(tokens)
        const kept = JSON.parse(await recorded(url, 'application/json', [JSON.stringify(answer)])) as object
        expect([...spelledIn(kept)].filter(text => text.includes(hidden))).toEqual([])
        expect([...spelledIn(kept)]).toContain('It is [redacted] now')
        expect(shapeOf(kept)).toEqual(shapeOf(answer))
      }),
      { numRuns: 40 },
    )
  })

  test('in the events of a stream, one or several in each', async () => {
    await fc.assert(
      fc.asyncProperty(secret, cuts, cuts, async (hidden, at, groups) => {
        const tokens = split(`It is ${hidden} now`, at)
        const events = split(tokens.map((_, index) => String.fromCharCode(index)).join(''), groups)
          .filter(group => group !== '')
          .map(group => place([...group].map(one => tokens[one.charCodeAt(0)]!)))
        const chunks = events.map(event => `data: ${JSON.stringify(event)}\n\n`)
        const text = await recorded(url, 'text/event-stream', chunks)
        const kept = [...text.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data!) as object)
        const spelled = kept.map(event => [...spelledIn(event)])
        const joined = spelled[0]!.map((_, index) => spelled.map(texts => texts[index] ?? '').join(''))
        expect(joined.filter(one => one.includes(hidden))).toEqual([])
        expect(joined).toContain('It is [redacted] now')
      }),
      { numRuns: 40 },
    )
  })
})

/** Returns a value without its texts, numbers and names. */
const shapeOf = (value: unknown): unknown =>
  Array.isArray(value)
    ? value.every(item => typeof item === 'number')
      ? 'numbers'
      : value.map(shapeOf)
    : typeof value === 'object' && value !== null
      ? Object.values(value).map(shapeOf)
      : typeof value

test('tokens without a secret stay as they are', async () => {
  for (const [, url, place] of WHOLE) {
    const text = JSON.stringify(place(['sk', '-a', 'bc']))
    expect(await recorded(url, 'application/json', [text])).toBe(text)
  }
})

test('an answer or event with a secret and integers beyond 2^53 keeps these', async () => {
  await fc.assert(
    fc.asyncProperty(fc.bigInt(-(2n ** 80n), 2n ** 80n), secret, fc.boolean(), async (integer, hidden, streams) => {
      const value = `{"id":${integer},"choices":[{"index":0,"message":{"content":"It is ${hidden}."},"n":[${integer},1.50]}]}`
      const sent = streams ? `data: ${value}\n\n` : value
      const kept = await recorded('/v1/chat/completions', streams ? 'text/event-stream' : 'application/json', [sent])
      expect(kept).not.toContain(hidden)
      expect(kept.replace('1.5]', '1.50]')).toBe(sent.replace(hidden, '[redacted]'))
    }),
    { numRuns: 100 },
  )
})
