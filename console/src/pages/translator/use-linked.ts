import { useEffect } from 'preact/hooks'
import { toast } from '../../ui/toast.tsx'
import { type Linked, linkedOf } from './permalink.ts'
import { text } from './texts.ts'

/** Hook that calls `take` with the decoded URL fragment, now and on every change. */
export function useLinked(take: (linked: Linked) => void): void {
  useEffect(() => {
    let isGone = false
    const look = async (): Promise<void> => {
      const { hash } = location
      if (hash.length < 2 || hash === '#content') return
      const linked = await linkedOf(hash)
      if (isGone || hash !== location.hash) return
      if (linked === undefined) toast(text().badLink, 'bad')
      else take(linked)
    }
    const changed = (): void => void look()
    changed()
    addEventListener('hashchange', changed)
    return () => {
      isGone = true
      removeEventListener('hashchange', changed)
    }
  }, [])
}
