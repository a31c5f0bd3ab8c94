import { common } from '../i18n/common.ts'
import { Button } from './button.tsx'

interface PagerProps {
  /** Whether more follow. */
  readonly more: boolean
  readonly onMore: () => unknown
  readonly note?: string
}

/** The end of a list that is loaded page by page. */
export const Pager = ({ more, onMore, note }: PagerProps) =>
  more || note !== undefined ? (
    <div class="pager">
      {note !== undefined && <span class="faint">{note}</span>}
      {more && <Button onClick={onMore}>{common().more}</Button>}
    </div>
  ) : null
