import { describe, expect, test } from 'vitest'
import { ERRORS, GatewayError } from '../../src/canonical/error.ts'
import { fold } from '../../src/canonical/fold.ts'
import { lose } from '../../src/canonical/loss.ts'
import type { CanonicalRequest } from '../../src/canonical/request.ts'
import type { CanonicalResult } from '../../src/canonical/result.ts'
import { chain, drain } from '../../src/canonical/transducer.ts'
import { WRITERS } from '../../src/egress/index.ts'
import { READERS } from '../../src/ingress/index.ts'
import { eventParser } from '../../src/ingress/transport/event-parser.ts'
import { grammarFault } from '../laws/grammar.ts'
import { plain, same } from '../laws/support.ts'
import { claims, essence } from './essence.ts'
import {
  askedBy,
  countingTokens,
  formatsOf,
  isAnswer,
  named,
  present,
  type Recording,
  recorded,
  recordingsOf,
  where,
} from './recording.ts'

const FORMATS = formatsOf('events')

/** Fields that the gateway adds before an answer is written. */
const DRESS = { id: 'id-of-the-gateway', createdAt: 1_700_000_000 }

const dressed = (result: CanonicalResult, asked: CanonicalRequest): CanonicalResult => ({
  ...DRESS,
  model: asked.model,
  ...result,
})

/** The answer for callers whose refusals are texts. */
const refusingInText = (result: CanonicalResult): CanonicalResult => ({
  ...result,
  candidates: result.candidates.map(candidate => ({
    ...candidate,
    content: candidate.content.map(part => (part.type === 'refusal' ? { type: 'text', text: part.text } : part)),
  })),
})

/** The answer for callers whose finish reasons know no refusals either. */
const notRefusing = (result: CanonicalResult): CanonicalResult => {
  const { candidates } = refusingInText(result)
  const stopped = candidates.map(({ finish, ...candidate }) =>
    finish?.reason === 'refused' ? candidate : { ...candidate, ...(finish && { finish }) },
  )
  return { ...result, candidates: stopped }
}

/** What is left of a refusal for callers of some formats. */
const REFUSING: { readonly [format: string]: (result: CanonicalResult) => CanonicalResult } = {
  converse: refusingInText,
  'cohere-chat': notRefusing,
  interactions: notRefusing,
}

const bodies = (format: string) =>
  recordingsOf(format).filter(({ status, body }) => status === 200 && body !== undefined)
const wholes = (format: string) => bodies(format).filter(isAnswer)
const hollow = (format: string) => bodies(format).filter(one => !isAnswer(one))
const failures = (format: string) => recordingsOf(format).filter(({ status }) => status >= 400)
const streams = (format: string) => recordingsOf(format).filter(({ sse }) => sse !== undefined)
const eventsOf = ({ format, sse }: Recording, asked: CanonicalRequest) =>
  drain(READERS[format]!.events!(asked), drain(eventParser(), [Buffer.from(sse!)]))

describe.skipIf(!present).each(recorded(FORMATS))(`recorded answers of %s${where}`, format => {
  describe('are sent complete and unchanged', () => {
    test.each(named(wholes(format)))('%s', (_, recording) => {
      const asked = askedBy(recording)
      const result = READERS[format]!.result!({ status: 200, headers: {}, body: recording.body! }, asked)
      const { wire, losses } = WRITERS[format]!.result!(result, asked)
      same(wire.body, recording.body)
      expect(losses).toEqual([])
    })
  })

  test.each(named(hollow(format)))('are refused where they are no answers: %s', (_, recording) => {
    const read = () => READERS[format]!.result!({ status: 200, headers: {}, body: recording.body! }, askedBy(recording))
    expect(read).toThrow(GatewayError)
  })

  test.each(named(failures(format)))('are errors of their status, and say why: %s', (_, { status, body }) => {
    const error = READERS[format]!.error!({ status, headers: {}, body: body ?? {} })
    expect(error.status ?? ERRORS[error.kind].status).toBe(status)
    expect(error.message.length).toBeGreaterThan(10)
  })

  describe.skipIf(streams(format).length === 0)('stream well-formed, and each says what it is about', () => {
    test.each(named(streams(format)))('%s', (_, recording) => {
      const events = eventsOf(recording, askedBy(recording))
      expect(grammarFault(events)).toBeUndefined()
      const { candidates, error } = fold(events)
      if (error === undefined) expect(candidates[0]?.finish).toBeDefined()
    })
  })

  describe.skipIf(streams(format).length === 0)('are the same events however their bytes are cut', () => {
    test.each(named(streams(format)))('%s', (_, { sse }) => {
      const bytes = Buffer.from(sse!)
      const uncut = JSON.stringify(drain(eventParser(), [bytes]))
      for (let size = 1; size <= 97; size++) {
        const pieces: Buffer[] = []
        for (let at = 0; at < bytes.length; at += size) pieces.push(bytes.subarray(at, at + size))
        if (JSON.stringify(drain(eventParser(), pieces)) !== uncut) expect.fail(`cut at every ${size} bytes`)
      }
    })
  })

  describe.each(FORMATS)('before a caller of %s keep their essence', caller => {
    test.each(named(wholes(format)))('whole: %s', (_, recording) => {
      const asked = askedBy(recording)
      const body = recording.body!
      const result = dressed(READERS[format]!.result!({ status: 200, headers: {}, body }, asked), asked)
      const { wire, losses } = WRITERS[caller]!.result!(result, asked)
      const back = READERS[caller]!.result!(plain(wire), asked)
      if (result.task === undefined) same(essence(back), essence(lose(result, losses)))
      expect(plain(essence(back))).toMatchObject(plain(claims(result)))
    })

    test.each(named(streams(format)))('streamed: %s', (_, recording) => {
      const asked = askedBy(recording)
      const events = eventsOf(recording, asked)
      const result = fold(events)
      const through = chain(WRITERS[caller]!.events!(countingTokens(asked)), READERS[caller]!.events!(asked))
      const read = drain(through, events)
      expect(grammarFault(read)).toBeUndefined()
      expect(plain(essence(fold(read)))).toMatchObject(plain(claims((REFUSING[caller] ?? (given => given))(result))))
    })
  })
})
