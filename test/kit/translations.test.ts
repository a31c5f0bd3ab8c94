import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { BufferedBytes } from '../../src/canonical/bytes.ts'
import { GatewayError } from '../../src/canonical/error.ts'
import type { Path } from '../../src/canonical/loss.ts'
import type { Format } from '../../src/canonical/node.ts'
import { drain } from '../../src/canonical/transducer.ts'
import type { WireRequest } from '../../src/canonical/wire.ts'
import { WRITERS } from '../../src/egress/index.ts'
import { EVENT_STREAM } from '../../src/egress/transport/sse.ts'
import { valueAt } from '../../src/kit/pointer.ts'
import { readSourceText } from '../../src/kit/source-text.ts'
import type { Kind } from '../../src/kit/translate.ts'
import { type TranslatedText, translations } from '../../src/kit/translations.ts'
import { streamed } from '../laws/arbitrary-result.ts'
import { spoiled } from '../laws/spoiled.ts'
import { formatsWith, plain, RUNS } from '../laws/support.ts'
import { ANSWERS, WIRES } from '../laws/wires.ts'
import { jobsWith, WORKS } from '../laws/works.ts'

/** Options of the runs. Each run writes every format and searches for every loss. */
const SOME = { numRuns: Math.ceil(RUNS / 10) }
/** Time limit far above the need of any text of these laws, in milliseconds. A slow machine changes no verdict. */
const AMPLE = 60_000

/** Returns a request as text, including its files. */
const textOf = (wire: WireRequest): string => JSON.stringify(plain({ ...wire, files: wire.files?.map(held) }))
const held = (file: NonNullable<WireRequest['files']>[number]) => ({
  ...file,
  bytes: file.bytes instanceof BufferedBytes ? file.bytes : '',
})

/** Returns the text in other formats. Undefined if it is not valid in its format. */
async function inOthers(
  text: string,
  format: Format,
  kind: Kind,
): Promise<ReadonlyMap<Format, TranslatedText> | undefined> {
  const given = refused(() => readSourceText(text, format, kind))
  return given && translations(given, undefined, AMPLE)
}

function refused<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch (thrown) {
    if (thrown instanceof GatewayError) return undefined
    throw thrown
  }
}

/** Checks that every path exists in its text. A loss without a path concerns a value that nobody wrote. */
async function check(text: string, format: Format, kind: Kind): Promise<void> {
  const given = refused(() => readSourceText(text, format, kind))
  if (given === undefined) return
  for (const [to, other] of (await inOthers(text, format, kind))!) {
    if ('error' in other) continue
    for (const { loss, from, missing, to: there } of other.losses) {
      if (from === undefined) expect(missing).toBe('not-in-the-text')
      else expect(has(given.source, from), `${loss.path.join('/')} at ${from.join('/')}`).toBe(true)
      if (there !== undefined) expect(has(readSourceText(other.text, to, kind, other).source, there)).toBe(true)
    }
  }
}

const has = (source: unknown, path: Path): boolean => path.length > 0 && valueAt(source, path) !== undefined

const law = (values: fc.Arbitrary<string>, format: Format, kind: Kind): Promise<void> =>
  fc.assert(
    fc.asyncProperty(values, text => check(text, format, kind)),
    SOME,
  )

describe('each loss has a place in the given text, or is of what the text does not have', () => {
  it.each(Object.keys(WIRES).filter(format => WIRES[format]!.request !== undefined))('requests of %s', format =>
    law(WIRES[format]!.request.map(textOf), format, 'request'),
  )

  it.each(ANSWERS)('results of %s', (_, format, values) =>
    law(
      values.map(body => JSON.stringify(body)),
      format,
      'result',
    ),
  )

  it.each(jobsWith('events'))('streams of %s: %s', (format, work) => {
    const { asked, result } = WORKS[work]!
    const frames = streamed(result).map(({ events }) =>
      drain(WRITERS[format]!.events!(asked), events)
        .map(event => EVENT_STREAM.frame(event, false))
        .join(''),
    )
    return law(
      frames.filter(text => text !== ''),
      format,
      'events',
    )
  })
})

describe('rubbish is refused in words, or translated', () => {
  it.each(formatsWith('request'))('requests of %s', format =>
    law(
      spoiled(WIRES[format]!.request.map(({ body }) => body)).map(body => JSON.stringify(body)),
      format,
      'request',
    ),
  )

  it.each(ANSWERS)('results of %s', (_, format, values) =>
    law(
      spoiled(values).map(body => JSON.stringify(body)),
      format,
      'result',
    ),
  )

  it.each([
    '',
    '{',
    '[]',
    'null',
    '"text"',
    'data: [DONE]\n\n',
    'data: {"a":\n\n',
    `${'['.repeat(5000)}`,
    `{"a":${'['.repeat(5000)}${']'.repeat(5000)}}`,
  ])('%#', async text => {
    for (const format of [...Object.keys(WIRES), 'none', 'constructor'])
      for (const kind of ['request', 'result', 'events'] as const) await check(text, format, kind)
  })
})

describe('places', () => {
  const losses = async (body: object, to: Format, format = 'chat', kind: Kind = 'request') => {
    const all = await inOthers(JSON.stringify(body), format, kind)
    const other = all!.get(to)!
    return 'error' in other
      ? []
      : other.losses.map(({ loss, from, to: there }) => [
          loss.kind,
          loss.path.join('/'),
          from?.join('/'),
          there?.join('/'),
        ])
  }

  it('are fields by the name that the given format has for them', async () => {
    const body = {
      model: 'm',
      messages: [{ role: 'user', content: 'Hi' }],
      presence_penalty: 1,
      seed: 7,
      logit_bias: { '1': 2 },
    }
    expect((await losses(body, 'messages')).sort()).toEqual(
      [
        ['dropped', 'sampling/seed', 'seed', undefined],
        ['dropped', 'sampling/presencePenalty', 'presence_penalty', undefined],
        ['dropped', 'extras/chat/logit_bias', 'logit_bias', undefined],
        ['added', 'sampling/maxTokens', undefined, 'max_tokens'],
      ].sort(),
    )
  })

  it('are in the item of a list that has them, behind others', async () => {
    const image = (detail: string) => ({ type: 'image_url', image_url: { url: 'https://x.test/a.png', detail } })
    const body = {
      model: 'm',
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: [{ type: 'text', text: 'What?' }, image('low'), image('high')] },
      ],
    }
    const found = (await losses(body, 'messages')).filter(([kind]) => kind === 'dropped')
    expect(found.map(([, , from]) => from)).toEqual([
      'messages/1/content/1/image_url/detail',
      'messages/1/content/2/image_url/detail',
    ])
  })

  it('are in the first event of a stream that has them', async () => {
    const text = [
      '{"id":"1","model":"m","created":1,"choices":[{"index":0,"delta":{"role":"assistant","content":"Hi"}}]}',
      '{"id":"1","model":"m","created":1,"choices":[{"index":0,"delta":{"content":" you"},"logprobs":{"content":[{"token":" you","logprob":-1,"bytes":[1],"top_logprobs":[]}]}}]}',
      '{"id":"1","model":"m","created":1,"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}',
      '[DONE]',
    ]
    const all = await inOthers(text.map(data => `data: ${data}\n\n`).join(''), 'chat', 'events')
    const other = all!.get('messages') as Extract<TranslatedText, { text: string }>
    const lost = other.losses.find(({ loss }) => loss.path.includes('logprobs'))
    expect(lost?.from?.slice(0, 4)).toEqual([1, 'choices', 0, 'logprobs'])
  })
})
