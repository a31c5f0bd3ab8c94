import type { Bytes } from '../../canonical/bytes.ts'
import type { GatewayError } from '../../canonical/error.ts'
import type { Answer, Taker } from '../../channel/index.ts'
import type { Recording } from './recording.ts'

/** An upstream's answer whose body is recorded as it is read, whichever way that is. */
export const recordedAnswer = (answer: Answer, recording: Recording): Answer => ({
  status: answer.status,
  headers: answer.headers,
  begins: answer.begins,
  flow: taker => answer.flow(new RecordingTaker(taker, recording)),
  text: async limit => {
    const text = await answer.text(limit)
    recording.take(text)
    recording.isWhole = true
    return text
  },
  bytes: () => recordedBytes(answer.bytes(), recording),
})

class RecordingTaker implements Taker {
  private readonly taker: Taker
  private readonly recording: Recording

  constructor(taker: Taker, recording: Recording) {
    this.taker = taker
    this.recording = recording
  }

  take(bytes: Uint8Array): void {
    this.recording.take(bytes)
    this.taker.take(bytes)
  }

  end(): void {
    this.recording.isWhole = true
    this.taker.end()
  }

  fail(error: GatewayError): void {
    this.taker.fail(error)
  }
}

const recordedBytes = (bytes: Bytes, recording: Recording): Bytes => ({
  ...bytes,
  async *read() {
    for await (const piece of bytes.read()) {
      recording.take(piece)
      yield piece
    }
    recording.isWhole = true
  },
})
