import { useLayoutEffect, useRef, useState } from 'preact/hooks'

/** Maximum number of rows in a table that renders all of them. Longer tables render only the rows in view. */
const MANY = 200
/** Number of rows rendered above and below the visible ones. */
const MARGIN = 20

/** Hook that computes which rows of a scrolling table are in view, and the pixels of the rows before and after them. */
export function useWindow(count: number) {
  const scroller = useRef<HTMLElement>(null)
  const [view, setView] = useState({ top: 0, height: 800, row: 40 })
  const isLong = count > MANY
  useLayoutEffect(() => {
    const element = scroller.current
    if (element === null || !isLong) return
    const look = (): void => {
      const row = element.querySelector<HTMLElement>('tbody tr:not([aria-hidden])')?.offsetHeight ?? 40
      setView({ top: element.scrollTop, height: element.clientHeight, row })
    }
    element.classList.add('long')
    look()
    element.addEventListener('scroll', look, { passive: true })
    return () => {
      element.removeEventListener('scroll', look)
      element.classList.remove('long')
    }
  }, [isLong])
  if (!isLong) return { scroller, from: 0, to: count, before: 0, after: 0 }
  const from = Math.max(0, Math.min(count, Math.floor(view.top / view.row)) - MARGIN)
  const to = Math.min(count, Math.ceil((view.top + view.height) / view.row) + MARGIN)
  return { scroller, from, to, before: from * view.row, after: (count - to) * view.row }
}
