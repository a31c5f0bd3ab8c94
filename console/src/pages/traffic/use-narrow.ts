import { useEffect, useState } from 'preact/hooks'

const NARROW = matchMedia('(max-width: 860px)')

/** Hook: whether the screen has space for one view only. */
export function useNarrow(): boolean {
  const [isNarrow, setNarrow] = useState(NARROW.matches)
  useEffect(() => {
    const look = (): void => setNarrow(NARROW.matches)
    NARROW.addEventListener('change', look)
    return () => NARROW.removeEventListener('change', look)
  }, [])
  return isNarrow
}
