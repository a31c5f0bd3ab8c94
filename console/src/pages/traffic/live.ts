import { useEffect, useRef, useState } from 'preact/hooks'
import { BY_ITSELF } from '../../api/activity.ts'
import { ProblemError } from '../../api/problem.ts'
import { send } from '../../api/request.ts'
import type { Request } from '../../api/types.ts'
import type { Row, Running } from './row.ts'

/** Interval between two updates of the list, in milliseconds. */
const EVERY = 250
/** Pause before a broken connection is opened again, in milliseconds. */
const AGAIN = 2000

/** State of the connection for live requests. */
export type LiveState = 'off' | 'on' | 'reconnecting'

interface Live {
  readonly state: LiveState
  /** Number of requests that the server skipped because they came too fast. */
  readonly missed: number
}

/** Hook that receives requests live and passes them on in batches. */
export function useLive(isOn: boolean, onRows: (rows: readonly Row[]) => void): Live {
  const [state, setState] = useState<LiveState>('off')
  const [missed, setMissed] = useState(0)
  const take = useRef(onRows)
  take.current = onRows

  useEffect(() => {
    if (!isOn) return setState('off')
    const ended = new AbortController()
    let waiting: Row[] = []
    const timer = setInterval(() => {
      if (waiting.length === 0) return
      take.current(waiting)
      waiting = []
    }, EVERY)
    const on = (event: string, data: string): void => {
      const value: unknown = JSON.parse(data)
      if (event === 'begun') waiting.push({ ...(value as Running), running: true })
      else if (event === 'over') waiting.push(value as Request)
      else if (event === 'missed') setMissed(count => count + (value as { readonly count: number }).count)
    }
    void watch(ended.signal, on, setState)
    return () => {
      clearInterval(timer)
      ended.abort()
    }
  }, [isOn])
  return { state, missed }
}

async function watch(
  signal: AbortSignal,
  on: (event: string, data: string) => void,
  setState: (state: LiveState) => void,
): Promise<void> {
  while (!signal.aborted) {
    try {
      const answer = await send('GET', '/requests/live', {
        signal,
        headers: { accept: 'text/event-stream', ...BY_ITSELF },
      })
      setState('on')
      await read(answer.body!, on)
    } catch (thrown) {
      if (signal.aborted || (thrown instanceof ProblemError && thrown.status === 401)) return
      setState('reconnecting')
      await new Promise(resolve => setTimeout(resolve, AGAIN))
    }
  }
}

/** Reads the server-sent events of a stream and ignores comments. */
async function read(body: ReadableStream<Uint8Array>, on: (event: string, data: string) => void): Promise<void> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let text = ''
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    text += decoder.decode(next.value, { stream: true })
    const blocks = text.split('\n\n')
    text = blocks.pop() ?? ''
    for (const block of blocks) {
      const event = /^event: (.*)$/m.exec(block)?.[1]
      const data = /^data: (.*)$/m.exec(block)?.[1]
      if (event !== undefined && data !== undefined) on(event, data)
    }
  }
}
