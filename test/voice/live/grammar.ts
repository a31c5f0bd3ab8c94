import type { OutputPosition, ServerEvent } from '../../../src/canonical/voice-session-event.ts'

interface Output {
  readonly item: string
  readonly isCall: boolean
  part: OutputPosition | undefined
  parts: number
  isOpen: boolean
}

/**
 * Checks server events against the grammar in `canonical/voice-session-event.ts`, for upstreams with one response at a
 * time. Returns the first fault. Undefined if there is none.
 */
export function fault(events: readonly ServerEvent[]): string | undefined {
  let response: string | undefined
  let outputs: Output[] = []
  let speech: string | undefined
  let transcribing: string | undefined
  const committed = new Set<string>()
  const transcribed = new Set<string>()
  const ids = new Set<string>()
  for (const [index, event] of events.entries()) {
    const at = `${index} ${event.type}`
    if ((index === 0) !== (event.type === 'session-created')) return `${at}: session-created is the first alone`
    if ('response' in event && event.type !== 'response-start' && event.response !== response) return `${at}: response`
    if ('at' in event) {
      const output = outputs[event.at.output]
      if (event.at.response !== response || output?.item !== event.at.item || !output.isOpen) return `${at}: place`
      if (event.type === 'part-start') {
        if (output.part !== undefined || output.isCall || event.at.part !== output.parts++) return `${at}: part`
        output.part = event.at
      } else if (event.type !== 'arguments-delta') {
        if (output.part?.part !== event.at.part) return `${at}: no such part`
        if (event.type === 'part-end') output.part = undefined
      } else if (!output.isCall) return `${at}: arguments`
    }
    switch (event.type) {
      case 'response-start':
        if (response !== undefined || ids.has(event.response)) return `${at}: twice`
        response = event.response
        ids.add(response)
        outputs = []
        break
      case 'output-start':
        if (event.output !== outputs.length || ids.has(event.item.id)) return `${at}: order`
        ids.add(event.item.id)
        outputs.push({
          ...{ item: event.item.id, isCall: event.item.content[0]?.type === 'tool-call' },
          ...{ part: undefined, parts: 0, isOpen: true },
        })
        break
      case 'output-end': {
        const output = outputs[event.output]
        if (output?.item !== event.item || !output.isOpen || output.part !== undefined) return `${at}: output`
        output.isOpen = false
        break
      }
      case 'response-end':
        if (outputs.some(({ isOpen }) => isOpen)) return `${at}: open outputs`
        if (event.status === 'cancelled' && event.reason === undefined) return `${at}: no reason`
        response = undefined
        break
      case 'speech-started':
        if (speech !== undefined) return `${at}: twice`
        speech = event.item
        break
      case 'speech-stopped':
        if (speech !== event.item) return `${at}: item`
        speech = undefined
        break
      case 'audio-committed':
        if (speech !== undefined || committed.has(event.item)) return `${at}: speech`
        if (transcribing !== undefined) return `${at}: an open transcript`
        committed.add(event.item)
        break
      case 'input-transcript-delta':
        if (!committed.has(event.item) || transcribed.has(event.item)) return `${at}: item`
        transcribing = event.item
        break
      case 'input-transcript-done':
        if (!committed.has(event.item) || transcribed.has(event.item)) return `${at}: item`
        transcribed.add(event.item)
        transcribing = undefined
        break
    }
  }
  return undefined
}
