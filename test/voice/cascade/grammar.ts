import type { OutputPosition, ServerEvent } from '../../../src/canonical/voice-session-event.ts'

/** Lists violations of the grammar in `canonical/voice-session-event.ts`. */
export function faultsIn(events: readonly ServerEvent[]): readonly string[] {
  const faults: string[] = []
  const running = new Map<string, { outputs: number; open: Map<number, 'none' | 'open' | 'ended'> }>()
  const stateOf = ({ response, output }: OutputPosition) => running.get(response)?.open.get(output)
  for (const [index, event] of events.entries()) {
    const fault = (what: string): void => void faults.push(`${index} ${event.type}: ${what}`)
    if (index === 0 && event.type !== 'session-created') fault('is first')
    if (index > 0 && event.type === 'session-created') fault('comes again')
    if (event.type === 'response-start') {
      if (running.has(event.response)) fault('is running')
      running.set(event.response, { outputs: 0, open: new Map() })
    } else if (event.type === 'output-start') {
      const response = running.get(event.response)
      if (response === undefined) fault('of no response')
      else if (response.outputs++ !== event.output) fault('is out of order')
      response?.open.set(event.output, 'none')
    } else if ('at' in event) {
      const state = stateOf(event.at)
      if (state === undefined) fault('of no output')
      else if (event.type === 'part-start' && state !== 'none') fault('starts again')
      else if (event.type !== 'part-start' && event.type !== 'arguments-delta' && state !== 'open')
        fault('of no open part')
      if (event.type === 'part-start') running.get(event.at.response)?.open.set(event.at.output, 'open')
      if (event.type === 'part-end') running.get(event.at.response)?.open.set(event.at.output, 'ended')
    } else if (event.type === 'output-end') {
      const state = running.get(event.response)?.open.get(event.output)
      if (state === undefined) fault('of no output')
      if (state === 'open') fault('before its part')
      running.get(event.response)?.open.delete(event.output)
    } else if (event.type === 'response-end') {
      const response = running.get(event.response)
      if (response === undefined) fault('of no response')
      else if (response.open.size > 0) fault('before its outputs')
      running.delete(event.response)
    }
  }
  return faults
}
