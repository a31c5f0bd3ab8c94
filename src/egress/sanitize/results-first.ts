import type { Message } from '../../canonical/request.ts'

/** The order in which results come first after each turn of the assistant. */
export function resultsFirst(messages: readonly Message[], lead: number): number[] {
  if (!messages.some(({ role }) => role === 'tool')) return messages.map((_, index) => index)
  const order: number[] = []
  let run: number[] = []
  let answering = false
  const flush = (): void => {
    const isFirst = (index: number): boolean => answering && messages[index]!.role === 'tool'
    for (const index of run) if (isFirst(index)) order.push(index)
    for (const index of run) if (!isFirst(index)) order.push(index)
    run = []
  }
  for (let index = 0; index < messages.length; index++) {
    if (index < lead) order.push(index)
    else if (messages[index]!.role !== 'assistant') run.push(index)
    else {
      flush()
      order.push(index)
      answering = true
    }
  }
  flush()
  return order
}
