import { useEffect, useState } from 'preact/hooks'
import { text } from './texts.ts'

/** Counts the seconds while a test is running. */
export function Waiting() {
  const [seconds, setSeconds] = useState(0)
  useEffect(() => {
    const began = performance.now()
    const timer = setInterval(() => setSeconds(Math.floor((performance.now() - began) / 1000)), 250)
    return () => clearInterval(timer)
  }, [])
  return <p class="note">{text().test.waiting(seconds)}</p>
}
