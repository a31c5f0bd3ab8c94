import { common } from '../i18n/common.ts'
import { Button } from './button.tsx'

interface PagerProps {
  /** Whether there are more rows to load. */
  readonly more: boolean
  readonly onMore: () => unknown
  readonly note?: string
}

/** End of a paged list: a note and a button that loads more. */
export const Pager = ({ more, onMore, note }: PagerProps) =>
  more || note !== undefined ? (
    <div class="pager">
      {note !== undefined && <span class="faint">{note}</span>}
      {more && <Button onClick={onMore}>{common().more}</Button>}
    </div>
  ) : null
