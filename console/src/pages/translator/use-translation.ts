import { useEffect, useState } from 'preact/hooks'
import type { ProblemError } from '../../api/problem.ts'
import { request } from '../../api/request.ts'
import type { Translations } from '../../api/types.ts'
import { asProblem } from '../../api/use-load.ts'

/** Pause in typing before the text is translated, in milliseconds. */
const PAUSE = 300

/** Text to translate, with its format and kind if they are known. */
export interface Asked {
  readonly text: string
  /** Format of the text. Undefined to detect it. */
  readonly format?: string
  readonly kind?: string
}

/** State of a translation. */
export interface Translation {
  /** Last translation. Undefined if it failed. */
  readonly data: Translations | undefined
  /** Text that `data` was translated from. */
  readonly of: string
  readonly error: ProblemError | undefined
  readonly busy: boolean
}

const NOTHING: Translation = { data: undefined, of: '', error: undefined, busy: false }

/** Hook that translates a text into all formats after a pause in typing. A new translation aborts the previous one. */
export function useTranslation({ text, format, kind }: Asked): Translation {
  const [state, setState] = useState(NOTHING)
  useEffect(() => {
    if (text.trim() === '') {
      setState(NOTHING)
      return
    }
    const aborting = new AbortController()
    setState(({ data, of, error }) => ({ data, of, error, busy: true }))
    const translate = async (): Promise<void> => {
      const body = { text, ...(format === undefined ? {} : { format }), ...(kind === undefined ? {} : { kind }) }
      const { signal } = aborting
      try {
        const data = await request<Translations>('POST', '/translate', { body, signal })
        if (!signal.aborted) setState({ data, of: text, error: undefined, busy: false })
      } catch (thrown) {
        if (!signal.aborted) setState({ data: undefined, of: text, error: asProblem(thrown), busy: false })
      }
    }
    const timer = setTimeout(() => void translate(), PAUSE)
    return () => {
      clearTimeout(timer)
      aborting.abort()
    }
  }, [text, format, kind])
  return state
}
