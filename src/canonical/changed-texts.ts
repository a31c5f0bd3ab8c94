import type { Part } from './content.ts'
import type { CanonicalEvent, PartPosition } from './event.ts'
import type { CanonicalResult } from './result.ts'
import { NOTHING, type Transducer } from './transducer.ts'

/** Changes one text, from chunks that may end anywhere. */
export interface TextChange {
  /** Takes a chunk and returns the text that it completes. */
  push(chunk: string): string
  /** Returns the text that is still held at the end. */
  end(): string
}

/** Changes each text part of an answer. Other parts are unchanged. */
export const withChangedTexts = (result: CanonicalResult, change: () => TextChange): CanonicalResult => ({
  ...result,
  candidates: result.candidates.map(candidate => ({
    ...candidate,
    content: candidate.content.map(part => changedPart(part, change())),
  })),
})

function changedPart(part: Part, change: TextChange): Part {
  if (part.type !== 'text') return part
  const text = change.push(part.text) + change.end()
  return text === part.text ? part : { ...part, text }
}

/** Changes the text parts of a streamed answer, chunk by chunk. */
export class ChangedTextEvents implements Transducer<CanonicalEvent, CanonicalEvent> {
  private readonly texts = new Map<string, TextChange>()
  private readonly change: () => TextChange

  constructor(change: () => TextChange) {
    this.change = change
  }

  push(event: CanonicalEvent): readonly CanonicalEvent[] {
    switch (event.type) {
      case 'part-start':
        if (event.part.type === 'text') this.texts.set(keyOf(event.at), this.change())
        return [event]
      case 'part-delta': {
        const text = event.of === undefined ? this.texts.get(keyOf(event.at)) : undefined
        return text === undefined ? [event] : deltaEvents(event.at, text.push(event.append))
      }
      case 'part-end':
        return [...deltaEvents(event.at, this.texts.get(keyOf(event.at))?.end() ?? ''), event]
      default:
        return [event]
    }
  }

  end(): readonly CanonicalEvent[] {
    return NOTHING
  }
}

const deltaEvents = (at: PartPosition, append: string): readonly CanonicalEvent[] =>
  append === '' ? NOTHING : [{ type: 'part-delta', at, append }]

const keyOf = (at: PartPosition): string => `${at.candidate}/${at.part}`
