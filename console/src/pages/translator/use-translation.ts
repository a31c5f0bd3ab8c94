import { useEffect, useState } from 'preact/hooks'
import type { ProblemError } from '../../api/problem.ts'
import { request } from '../../api/request.ts'
import type { Translations } from '../../api/types.ts'
import { asProblem } from '../../api/use-load.ts'

/** Milliseconds without typing after which the text is translated. */
const PAUSE = 300

export interface Asked {
  readonly text: string
  /** Absent where it is to be guessed. */
  readonly format?: string
  readonly kind?: string
}

export interface Translation {
  /** Of the text that was translated last; absent where that failed. */
  readonly data: Translations | undefined
  /** The text that the data are of. */
  readonly of: string
  readonly error: ProblemError | undefined
  readonly busy: boolean
}

const NOTHING: Translation = { data: undefined, of: '', error: undefined, busy: false }

/** The text in every other format, once its author pauses; what was under way for an earlier text is aborted. */
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
