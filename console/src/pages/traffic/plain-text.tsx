import { useState } from 'preact/hooks'
import { number } from '../../format.ts'
import { Button } from '../../ui/button.tsx'
import { text } from './texts.ts'

/** Number of characters shown at first. A browser takes seconds to lay out a body of a megabyte. */
const STEP = 20_000

interface PlainTextProps {
  readonly children: string
  /** Name for screen readers. Without one, the element around scrolls and has a name. */
  readonly label?: string
}

/** Shows the start of a long text, and more of it with each “show more”. */
export function PlainText({ children, label }: PlainTextProps) {
  const [shown, setShown] = useState(STEP)
  const about = label === undefined ? {} : ({ tabIndex: 0, role: 'region', 'aria-label': label } as const)
  const rest = children.length - shown
  return (
    <>
      <pre class="plain" {...about}>
        {rest > 0 ? children.slice(0, shown) : children}
      </pre>
      {rest > 0 && (
        <Button small onClick={() => setShown(shown + 5 * STEP)}>
          {text().views.moreCharacters(number(rest))}
        </Button>
      )}
    </>
  )
}
