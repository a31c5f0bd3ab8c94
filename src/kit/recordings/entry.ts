import type { Format } from '../../canonical/node.ts'
import { parseRule } from '../../config/recording-rules.ts'
import { RecordingError } from './file.ts'
import type { FiledRecording } from './folder.ts'
import { type MatchKey, matchKey } from './match-key.ts'
import { type PartialMatch, partialMatch } from './partial-match.ts'
import { readRequest } from './read-request.ts'
import { withoutCredentials } from './recorded-request.ts'
import type { RecordedAnswer, Recording } from './recording.ts'

/** A recorded exchange that can answer requests. */
export interface Entry extends FiledRecording {
  readonly key: MatchKey
  readonly answer: RecordedAnswer
  readonly format: Format | undefined
  /** True if the answer is a stream. */
  readonly streams: boolean
  /** Rule for other requests that the recording answers, or undefined if it only answers requests equal to its own. */
  readonly partial: PartialMatch | undefined
}

/** A recording whose request is read on the first comparison, because reading a large folder takes a while. */
export class LazyEntry implements Entry {
  readonly file: string
  readonly recording: Recording
  readonly answer: RecordedAnswer
  private readonly ignore: readonly string[]
  private details: Pick<Entry, 'key' | 'format' | 'streams' | 'partial'> | undefined

  constructor({ file, recording }: FiledRecording, answer: RecordedAnswer, ignore: readonly string[]) {
    this.file = file
    this.recording = recording
    this.answer = answer
    this.ignore = ignore
    // Report invalid rules at the start.
    for (const rule of ignore) parseRule(rule)
  }

  get key(): MatchKey {
    return this.read().key
  }

  get format(): Format | undefined {
    return this.read().format
  }

  get streams(): boolean {
    return this.read().streams
  }

  get partial(): PartialMatch | undefined {
    return this.read().partial
  }

  private read() {
    try {
      this.details ??= readEntry(this.recording, this.ignore)
      return this.details
    } catch (thrown) {
      // JSON that is nested too deeply overflows the stack.
      throw new RecordingError(`${this.file}: cannot be compared: ${(thrown as Error).message}`)
    }
  }
}

function readEntry({ request: recorded, match }: Recording, ignore: readonly string[]) {
  const request = withoutCredentials(recorded)
  const read = readRequest(request)
  const key = matchKey(request, ignore)
  return {
    key,
    format: read?.route.format,
    streams: read !== undefined && (read.streams || read.canonical.stream),
    partial: match && partialMatch(match, key.form),
  }
}
