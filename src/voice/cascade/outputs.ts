import type { Part } from '../../canonical/content.ts'
import type { ConversationItem, ItemStatus } from '../../canonical/voice-session.ts'
import type { OutputPosition, Position, ServerEvent } from '../../canonical/voice-session-event.ts'
import type { IdentifiedItem } from '../conversation.ts'
import type { Playback } from './playback.ts'

export interface OutputsOptions {
  readonly response: string
  readonly newId: (prefix: string) => string
  emit(event: ServerEvent): void
  /** Adds an item to the conversation. Does nothing for a response outside the conversation. */
  insert(item: IdentifiedItem, playback: Playback | undefined): Position | undefined
  replace(item: IdentifiedItem): void
}

/** An item of a response that is being generated. */
export interface Output {
  readonly at: OutputPosition
  readonly kind: 'text' | 'audio' | 'call'
  /** The text, transcript or arguments so far. */
  text: string
  /** Playback state, only for audio. */
  readonly playback?: Playback
  /** Id and name, only for calls. */
  readonly call?: { readonly id: string; readonly name: string }
  open: boolean
  /** True once `part-start` has been emitted. */
  partStarted: boolean
}

/** Items of one response. Emits their events and updates the conversation. */
export class Outputs {
  private readonly options: OutputsOptions
  private readonly all: Output[] = []

  constructor(options: OutputsOptions) {
    this.options = options
  }

  /** Ids of the calls. */
  get calls(): readonly string[] {
    return this.all.flatMap(({ call }) => (call === undefined ? [] : [call.id]))
  }

  startOutput(about: Pick<Output, 'kind' | 'playback' | 'call'>): Output {
    const { response, newId, emit, insert } = this.options
    const at: OutputPosition = { response, item: newId('item'), output: this.all.length, part: 0 }
    const output: Output = { ...about, at, text: '', open: true, partStarted: false }
    this.all.push(output)
    const item: IdentifiedItem = { ...itemOf(output), status: 'in_progress' }
    const after = insert(item, output.playback)
    const first = output.kind === 'call' ? item : { ...item, content: [] }
    emit({ type: 'output-start', response, output: at.output, item: first, ...(after === undefined ? {} : { after }) })
    if (output.kind !== 'call' && output.open) {
      output.partStarted = true
      emit({ type: 'part-start', at, kind: output.kind })
    }
    return output
  }

  append(output: Output, text: string): void {
    if (!output.open || text === '') return
    output.text += text
    this.options.emit({ type: DELTAS[output.kind], at: output.at, text })
  }

  audio(output: Output, audio: Uint8Array): void {
    if (output.open) this.options.emit({ type: 'audio-delta', at: output.at, audio })
  }

  end(output: Output, status: ItemStatus): void {
    if (!output.open) return
    output.open = false
    const { at } = output
    this.options.replace({ ...itemOf(output), status })
    if (output.partStarted) this.options.emit({ type: 'part-end', at })
    this.options.emit({ type: 'output-end', response: at.response, output: at.output, item: at.item, status })
  }

  endAll(status: ItemStatus): void {
    for (const output of this.all) this.end(output, status)
  }
}

const DELTAS = { text: 'text-delta', audio: 'transcript-delta', call: 'arguments-delta' } as const

/** Returns the item for the history. It has the words that were sent so far instead of the audio. */
const itemOf = (output: Output): ConversationItem & { readonly id: string } => ({
  id: output.at.item,
  role: 'assistant',
  content: [partOf(output)],
})

function partOf({ kind, text, playback, call }: Output): Part {
  if (call !== undefined) return { type: 'tool-call', ...call, arguments: text }
  return kind === 'audio' ? spokenPart(playback?.text ?? '') : { type: 'text', text }
}

/** Returns an audio part with only a transcript, because samples are not stored. */
export const spokenPart = (transcript: string): Part => ({
  type: 'media',
  kind: 'audio',
  source: { type: 'base64', mediaType: 'audio/pcm;rate=24000', data: '' },
  transcript,
})
