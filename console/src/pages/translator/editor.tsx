import type { RefObject } from 'preact'
import { Marked } from './marked.tsx'
import type { Mark } from './marks.ts'
import { text as words } from './texts.ts'

interface EditorProps {
  readonly value: string
  readonly onValue: (value: string) => void
  readonly marks: readonly Mark[]
  readonly active: string | undefined
  /** The caret was put there. */
  readonly onCaret: (place: number) => void
  readonly isWrong: boolean
  readonly host: RefObject<HTMLDivElement | null>
}

/** Where the text is typed; the marks lie behind it, letter for letter. */
export const Editor = ({ value, onValue, marks, active, onCaret, isWrong, host }: EditorProps) => (
  <div class={isStream(value) ? 'editor dense' : 'editor'} ref={host}>
    <pre aria-hidden="true">
      <Marked text={value} marks={marks} active={active} />
      {/* A last empty line has a height, too. */}
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

/** Its lines are long, and are broken anywhere. */
const isStream = (value: string): boolean => /^\s*(?:data|event|id|retry|):/.test(value)
