import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { number } from '../../format.ts'
import { type Line, linesOf } from './json-lines.ts'
import { text } from './texts.ts'

/** Notes beside values, by JSON pointer. */
export type Marks = ReadonlyMap<string, readonly string[]>

interface JsonViewProps {
  readonly value: unknown
  readonly label: string
  readonly marks?: Marks
  /** JSON pointer of the value to scroll to. */
  readonly target?: string | undefined
  /** Whether the container scrolls, so that this element does not. */
  readonly bare?: boolean
}

const NONE: Marks = new Map()
/** Number of lines shown at first, and added with each “show more”. Bodies may have tens of thousands. */
const STEP = 1500
/** Length of a string that is shown at first, in characters. */
const LONG = 600

/** Shows a value as foldable JSON, with notes beside the lost values. */
export function JsonView({ value, label, marks = NONE, target, bare }: JsonViewProps) {
  const [folded, setFolded] = useState<ReadonlySet<string>>(new Set())
  const [shown, setShown] = useState(STEP)
  const { lines, total } = useMemo(() => linesOf(value, folded, shown), [value, folded, shown])
  const view = useRef<HTMLDivElement>(null)

  useEffect(() => {
    if (target === undefined) return
    if (!lines.some(line => line.pointer === target)) {
      const at = linesOf(value, folded).lines.findIndex(line => line.pointer === target)
      if (at >= shown) return setShown(at + STEP)
    }
    const line = [...(view.current?.querySelectorAll<HTMLElement>('[data-pointer]') ?? [])].find(
      one => one.dataset['pointer'] === target,
    )
    line?.scrollIntoView({ block: 'center' })
    line?.focus({ preventScroll: true })
  }, [target, shown])

  const fold = (pointer: string): void => {
    const next = new Set(folded)
    if (!next.delete(pointer)) next.add(pointer)
    setFolded(next)
  }
  const about = bare ? {} : ({ tabIndex: 0, role: 'region', 'aria-label': label } as const)
  return (
    <div class={bare ? 'json-view bare' : 'json-view'} ref={view} {...about}>
      {lines.map((line, index) => (
        <OneLine
          key={`${line.pointer}${line.close ?? ''}${index}`}
          line={line}
          marks={isEnd(line) ? undefined : marks.get(line.pointer)}
          isTarget={!isEnd(line) && line.pointer === target}
          onFold={fold}
        />
      ))}
      {shown < total && (
        <button type="button" class="more" onClick={() => setShown(shown + 4 * STEP)}>
          {text().views.moreItems(number(total - shown))}
        </button>
      )}
    </div>
  )
}

/** Returns true for a line that only closes a bracket. */
const isEnd = ({ open, close }: Line): boolean => close !== undefined && open === undefined

interface OneLineProps {
  readonly line: Line
  readonly marks: readonly string[] | undefined
  readonly isTarget: boolean
  readonly onFold: (pointer: string) => void
}

function OneLine({ line, marks, isTarget, onFold }: OneLineProps) {
  const { depth, name, pointer, open, close, value, comma, count } = line
  const classes = ['line', marks === undefined ? '' : 'marked', isTarget ? 'target' : '']
  return (
    <div
      class={classes.filter(Boolean).join(' ')}
      style={{ '--depth': Math.min(depth, 20) }}
      {...(marks === undefined ? {} : { 'data-pointer': pointer, tabIndex: -1 })}
    >
      {open !== undefined && count > 0 && (
        // Everything is unfolded at first, so folding is for pointers only.
        <button
          type="button"
          class="fold"
          tabIndex={-1}
          aria-expanded={!line.isFolded}
          aria-label={line.isFolded ? text().views.expand : text().views.collapse}
          onClick={() => onFold(pointer)}
        />
      )}
      {name !== undefined && (
        <>
          <span class="name">{JSON.stringify(name)}</span>
          <span class="mark">: </span>
        </>
      )}
      {open !== undefined && <span class="mark">{open}</span>}
      {line.isFolded && <span class="folded">{number(count)}</span>}
      {close !== undefined && <span class="mark">{close}</span>}
      {value !== undefined && <Value value={value} />}
      {comma && <span class="mark">,</span>}
      {marks?.map(mark => (
        <span key={mark} class="loss">
          {mark}
        </span>
      ))}
    </div>
  )
}

function Value({ value }: { readonly value: string | number | boolean | null }) {
  const [isWhole, setWhole] = useState(false)
  if (typeof value !== 'string') return <span class={value === null ? 'null' : typeof value}>{String(value)}</span>
  const isLong = value.length > LONG && !isWhole
  return (
    <>
      <span class="string">{JSON.stringify(isLong ? value.slice(0, LONG) : value)}</span>
      {isLong && (
        <button type="button" class="more" onClick={() => setWhole(true)}>
          {text().views.showAll(number(value.length))}
        </button>
      )}
    </>
  )
}
