import { append } from '../../../canonical/lists.ts'
import { bytesPerSecond, PCM_16K } from '../../../canonical/voice-session.ts'
import type { ServerEvent } from '../../../canonical/voice-session-event.ts'
import type { Conversation } from '../../conversation.ts'
import { addGenerated, OMITTED_AUDIO } from './open-response.ts'
import type { TextBudget } from './text-budget.ts'

/** The caller's audio input: the appended audio, the items created from it, and their transcripts. */
export class UserTurn {
  /** Amount of audio since the last item, in bytes. */
  pending = 0
  /** Amount of audio before the last item was created, in bytes. */
  private before = 0
  /** First byte of a sample whose second byte has not arrived yet. */
  private half: number | undefined
  /** True if the latest item has not been answered. Audio after it, such as silence of a microphone, is not a turn yet. */
  private awaitsAnswer = false
  private readonly conversation: Conversation
  private readonly textBudget: TextBudget
  private readonly newId: (prefix: string) => string
  /** Id of the future item for the current speech. */
  private speech: string | undefined
  /** The latest item, as long as its transcript may still grow. */
  private item: string | undefined
  /** Duration of the audio in the latest item, in seconds. */
  private seconds = 0
  private text = ''
  private hasTranscript = false
  /** Transcript so far of a turn that the client has not committed. */
  private uncommittedTranscript = ''

  constructor(conversation: Conversation, textBudget: TextBudget, newId: (prefix: string) => string) {
    this.conversation = conversation
    this.textBudget = textBudget
    this.newId = newId
  }

  get isSpeaking(): boolean {
    return this.speech !== undefined
  }

  /** True if there is audio that the model's next answer refers to. */
  get isUnheard(): boolean {
    return this.isSpeaking || (this.pending > 0 && !this.awaitsAnswer)
  }

  /** Called when the model answers. */
  answered(): void {
    this.awaitsAnswer = false
  }

  /** Buffers half of an incomplete sample, and returns the whole samples to send. */
  append(bytes: Uint8Array): Uint8Array {
    const { half } = this
    if (half === undefined && bytes.length % 2 === 0) {
      this.pending += bytes.length
      return bytes
    }
    const all = half === undefined ? bytes : Buffer.concat([Uint8Array.of(half), bytes])
    const even = all.length - (all.length % 2)
    this.half = even === all.length ? undefined : all[even]
    this.pending += even
    return all.subarray(0, even)
  }

  clear(): void {
    this.before += this.pending
    this.pending = 0
    this.half = undefined
    this.uncommittedTranscript = ''
  }

  /** Marks the start of speech. Returns no event if speech has already started. */
  started(): ServerEvent[] {
    if (this.speech !== undefined) return []
    this.speech = this.newId('item')
    return [{ type: 'speech-started', item: this.speech, atMs: this.now }]
  }

  /** Creates an item from the appended audio. */
  commit(): ServerEvent[] {
    const events = this.finish()
    const id = this.speech ?? this.newId('item')
    if (this.speech !== undefined) events.push({ type: 'speech-stopped', item: id, atMs: this.now })
    const { uncommittedTranscript } = this
    this.seconds = this.pending / bytesPerSecond(PCM_16K)
    this.speech = undefined
    this.awaitsAnswer = true
    this.clear()
    const { item, after } = addGenerated(this.conversation, { id, ...SPOKEN_ITEM })
    events.push(
      { type: 'audio-committed', item: id, after },
      { type: 'item-added', item, after },
      { type: 'item-done', item, after },
    )
    this.item = id
    if (uncommittedTranscript !== '') append(events, this.transcript(uncommittedTranscript, true))
    return events
  }

  /**
   * Appends to the latest item's transcript. If that transcript is complete, starts a new turn. The transcript of a
   * manual turn is buffered until the commit.
   */
  transcript(text: string, isManual: boolean): ServerEvent[] {
    if (this.item === undefined && this.pending === 0) return []
    if (this.item === undefined && isManual) {
      this.uncommittedTranscript = this.textBudget.append(this.uncommittedTranscript, text)
      return []
    }
    const events = this.item === undefined ? [...this.started(), ...this.commit()] : []
    this.text = this.textBudget.append(this.text, text)
    this.hasTranscript = true
    events.push({ type: 'input-transcript-delta', item: this.item!, part: 0, text })
    return events
  }

  /** Completes the transcript of the latest item. */
  finish(): ServerEvent[] {
    const { item, text, hasTranscript: transcribed, seconds } = this
    this.item = undefined
    this.text = ''
    this.hasTranscript = false
    if (item === undefined || !transcribed) return []
    const known = this.conversation.get(item)
    if (known !== undefined)
      this.conversation.replace({ ...known, content: [{ ...SPOKEN_ITEM.content[0], transcript: text }] })
    return [{ type: 'input-transcript-done', item, part: 0, text, seconds, isIncluded: true }]
  }

  private get now(): number {
    return Math.round((1000 * (this.before + this.pending)) / bytesPerSecond(PCM_16K))
  }
}

const SPOKEN_ITEM = {
  role: 'user',
  status: 'completed',
  content: [{ type: 'media', kind: 'audio', source: OMITTED_AUDIO }],
} as const
