import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fold } from '../../src/canonical/fold.ts'
import { lose } from '../../src/canonical/loss.ts'
import type { CanonicalResult, FinishReason } from '../../src/canonical/result.ts'
import { drain } from '../../src/canonical/transducer.ts'
import { WRITERS } from '../../src/egress/index.ts'
import { READERS } from '../../src/ingress/index.ts'
import { eventParser } from '../../src/ingress/transport/event-parser.ts'
import { KEY } from '../builders/config.ts'
import { REQUEST } from '../builders/requests.ts'
import { WAYS } from '../builders/streams.ts'
import type { Caller, Got } from '../clients/caller.ts'
import { CALLERS } from '../clients/callers/index.ts'
import { plain } from '../laws/support.ts'
import { claims, type Essence } from './essence.ts'
import { formatsOf, isAnswer, present, type Recording, recorded, recordingsOf, where } from './recording.ts'
import { Replaying } from './replaying.ts'

const FORMATS = formatsOf('events')
/** Each client's words for finish reasons, as far as it has such words. */
const WORDS: { readonly [format: string]: { readonly [R in FinishReason]?: string } } = {
  chat: { stop: 'stop', length: 'length', 'tool-calls': 'tool_calls', refused: 'content_filter' },
  responses: { stop: 'completed', length: 'incomplete', 'tool-calls': 'completed' },
  messages: { stop: 'end_turn', length: 'max_tokens', 'tool-calls': 'tool_use', refused: 'refusal' },
  contents: { stop: 'STOP', length: 'MAX_TOKENS', 'tool-calls': 'STOP' },
}

function answerOf({ format, body, sse }: Recording): CanonicalResult {
  if (sse === undefined) return READERS[format]!.result!({ status: 200, headers: {}, body: body! }, REQUEST)
  return fold(drain(READERS[format]!.events!(REQUEST), drain(eventParser(), [Buffer.from(sse)])))
}

/** Returns the content that a client of a format must get: everything from the upstream that the format can express. */
function owed(recording: Recording, caller: string): Partial<Essence> {
  const result = answerOf(recording)
  return claims(lose(result, WRITERS[caller]!.result!(result, REQUEST).losses))
}

/** Removes spaces. Formats cut reasoning into chunks in different ways. */
const unspaced = (text: string): string => text.replace(/\s+/g, '')

function expectOwed(got: Got, due: Partial<Essence>, caller: string): void {
  const finish = got.finish === '' ? undefined : WORDS[caller]![due.finish as FinishReason]
  const said = {
    ...got,
    finish: got.finish === 'stop_sequence' ? 'end_turn' : got.finish,
    thought: unspaced(got.thought),
  }
  expect(plain(said)).toMatchObject(
    plain({
      text: due.text,
      thought: unspaced(due.reasoning!),
      calls: due.calls,
      ...(finish === undefined ? {} : { finish }),
      ...(due.input === undefined ? {} : { input: due.input }),
      ...(due.output === undefined ? {} : { output: due.output }),
    }),
  )
}

async function expectFailure(caller: Caller, asking: Promise<unknown>): Promise<void> {
  const thrown = await asking.then(
    got => expect.fail(`answered: ${JSON.stringify(got)}`),
    thrown => thrown,
  )
  expect(caller.failure(thrown).message.length).toBeGreaterThan(5)
}

/** Arguments in chunks, which none of these clients assembles. */
const IN_PIECES = /"partialArgs"/

/** Calls with empty arguments, at which the client itself fails when they are streamed. */
const HOLLOW = /"function_call":\{"arguments":"","name":""\}/
describe.skipIf(!present).each(recorded(FORMATS))(`recorded answers of %s over HTTP${where}`, format => {
  const recordings = recordingsOf(format)
  let replaying: Replaying
  beforeAll(async () => void (replaying = await Replaying.open(format, recordings)))
  afterAll(() => replaying.close())

  const answers = recordings.filter(
    one => isAnswer(one) && answerOf(one).error === undefined && !answerOf(one).task && !IN_PIECES.test(one.sse ?? ''),
  )
  const failures = recordings.filter(one => one.status >= 400 || (isAnswer(one) && answerOf(one).error !== undefined))

  describe.each(CALLERS.filter(caller => FORMATS.includes(caller.format)))('to $name', caller => {
    const asking = (model: string, stream: boolean) =>
      caller
        .open({ address: replaying.testServer.server.address, key: KEY, model })
        .say({ text: 'Hi!' }, { stream, thinks: true })

    describe.each(WAYS)('$way', ({ stream }) => {
      const taken = stream ? answers.filter(({ body }) => !HOLLOW.test(JSON.stringify(body ?? null))) : answers
      test.concurrent.each(taken.map(one => [one.name, one] as const))('%s', async (name, recording) => {
        expectOwed(await asking(name, stream), owed(recording, caller.format), caller.format)
      })

      test.concurrent.each(failures.map(({ name, status }) => [name, status] as const))(
        'fails: %s (%i)',
        async name => {
          await expectFailure(caller, asking(name, stream))
        },
      )
    })
  })
})
