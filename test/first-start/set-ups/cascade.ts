import assert from 'node:assert/strict'
import { FakeUpstream, type Script } from '../../builders/upstream.ts'
import { quiet, voice } from '../../voice/cascade/voice.ts'
import type { Outcomes } from '../outcomes.ts'
import { type Event, Session } from '../session.ts'
import { KEY, Started } from '../started.ts'
import { runsFromBundle } from './bundle.ts'

const HEARD = 'How are you?'
const ANSWERED = 'I am fine, thank you.'

const chunk = (delta: object, finish_reason: string | null = null) => ({
  ...{ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'm' },
  choices: [{ index: 0, delta, finish_reason }],
})

/** An upstream that transcribes, answers and speaks. */
const answers: Script = (response, { url }) => {
  const events = url.endsWith('/transcriptions')
    ? [
        { type: 'transcript.text.delta', delta: HEARD },
        { type: 'transcript.text.done', text: HEARD },
      ]
    : url.endsWith('/speech')
      ? [{ type: 'speech.audio.delta', audio: Buffer.alloc(4800).toString('base64') }, { type: 'speech.audio.done' }]
      : [chunk({ content: ANSWERED }), chunk({}, 'stop')]
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.end(`${events.map(event => `data: ${JSON.stringify(event)}\n\n`).join('')}data: [DONE]\n\n`)
}

const RATE = 16_000
const TURN = Buffer.concat([quiet(0.4), voice(1), quiet(0.8)])

/** A voice session made of a transcription model, a conversation model and a speech model. */
export async function cascade(outcomes: Outcomes, checkout: string): Promise<void> {
  const upstream = await FakeUpstream.open(answers)
  const channel = (format: string, model: string) => ({
    ...{ name: format, provider: 'custom', formats: [format], base_url: `${upstream.address}/v1`, key: 'none' },
    models: [model],
  })
  const channels = [channel('chat', 'chatty'), channel('transcriptions', 'ears'), channel('speech', 'mouth')]
  const realtime = { cascade: { transcription: 'ears', speech: 'mouth', voice: 'nova' } }
  const started = await Started.open(checkout, { channels, realtime })
  const session = new Session(started.address, { key: KEY, path: '/v1/realtime?model=chatty' })
  try {
    await outcomes.try('the bundle runs', () => runsFromBundle(started.administrator()))
    await outcomes.try('a spoken turn is heard, answered and spoken', () => spoken(session))
    session.close()
    await outcomes.try('it stops in order', () => started.stop())
  } finally {
    session.close()
    await started.kill()
    await upstream.close()
  }
}

async function spoken(session: Session): Promise<void> {
  await session.first('session.created')
  const format = { type: 'audio/pcm', rate: RATE }
  const audio = { input: { format, transcription: {} }, output: { format } }
  session.send({ type: 'session.update', session: { type: 'realtime', audio } })
  for (let at = 0; at < TURN.length; at += 3200) {
    const piece = Buffer.from(TURN.subarray(at, at + 3200)).toString('base64')
    session.send({ type: 'input_audio_buffer.append', audio: piece })
  }
  const { response } = await session.first('response.done')
  assert.equal((await session.first('conversation.item.input_audio_transcription.completed')).transcript, HEARD)
  assert.equal(response.output[0].content[0].transcript, ANSWERED)
  const bytes = session.events.filter((event: Event) => event.type === 'response.output_audio.delta')
  assert.ok(bytes.length > 0)
}
