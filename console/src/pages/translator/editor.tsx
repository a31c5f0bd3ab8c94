import type { RefObject } from 'preact'
import { Marked } from './marked.tsx'
import type { Mark } from './marks.ts'
import { text as words } from './texts.ts'

interface EditorProps {
  readonly value: string
  readonly onValue: (value: string) => void
  readonly marks: readonly Mark[]
  readonly active: string | undefined
  /** Called with the index of the caret in the text. */
  readonly onCaret: (place: number) => void
  readonly isWrong: boolean
  readonly host: RefObject<HTMLDivElement | null>
}

/** Text editor with highlighted marks, drawn behind the text at the same positions. */
export const Editor = ({ value, onValue, marks, active, onCaret, isWrong, host }: EditorProps) => (
  <div class={isStream(value) ? 'editor dense' : 'editor'} ref={host}>
    <pre aria-hidden="true">
      <Marked text={value} marks={marks} active={active} />
      {/* The line break gives an empty last line its height. */}
      {'\n'}
    </pre>
    <textarea
      data-search=""
      aria-label={words().given}
      aria-invalid={isWrong}
      placeholder={words().placeholder}
      spellcheck={false}
      autocapitalize="off"
      autocomplete="off"
      value={value}
      onKeyDown={event => event.key === 'Escape' && event.currentTarget.blur()}
      onClick={event => onCaret(event.currentTarget.selectionStart)}
      onInput={event => onValue(event.currentTarget.value)}
    />
  </div>
)

/** Whether a text is an event stream, whose long lines wrap anywhere. */
const isStream = (value: string): boolean => /^\s*(?:data|event|id|retry|):/.test(value)
