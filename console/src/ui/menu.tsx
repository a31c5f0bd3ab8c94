import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { common } from '../i18n/common.ts'
import { IconButton } from './button.tsx'
import { Icon, type IconName } from './icon.tsx'

/** One entry of a menu. */
export interface MenuItem {
  readonly label: string
  readonly icon?: IconName
  readonly danger?: boolean
  readonly onSelect: () => void
}

/** A button that opens a menu of actions. Arrow keys move between the items, Escape closes the menu. */
export function Menu({
  items,
  label = common().actions,
}: {
  readonly items: readonly MenuItem[]
  readonly label?: string
}) {
  const [isOpen, setOpen] = useState(false)
  const id = useId()
  const host = useRef<HTMLDivElement>(null)
  const list = useRef<HTMLDivElement>(null)

  useLayoutEffect(() => {
    if (!isOpen) return
    const menu = list.current!
    const button = host.current!.querySelector('button')!
    const place = (): void => placeBy(button, menu)
    // A popover is in the top layer, so a scrolling list does not cut it off.
    menu.showPopover()
    place()
    menu.querySelector<HTMLElement>('[role=menuitem]')?.focus({ preventScroll: true })
    const leave = ({ target }: Event): void => {
      if (!host.current?.contains(target as Node)) setOpen(false)
    }
    document.addEventListener('pointerdown', leave)
    addEventListener('resize', place)
    addEventListener('scroll', place, true)
    return () => {
      document.removeEventListener('pointerdown', leave)
      removeEventListener('resize', place)
      removeEventListener('scroll', place, true)
    }
  }, [isOpen])

  const shut = (): void => {
    setOpen(false)
    host.current?.querySelector<HTMLElement>('button')?.focus()
  }
  const move = (event: KeyboardEvent): void => {
    const all = [...list.current!.querySelectorAll<HTMLElement>('[role=menuitem]')]
    const at = all.indexOf(document.activeElement as HTMLElement)
    const to = { ArrowDown: at + 1, ArrowUp: at - 1 + all.length, Home: 0, End: all.length - 1 }[event.key]
    if (event.key === 'Escape') shut()
    else if (event.key === 'Tab') return setOpen(false)
    else if (to === undefined) return
    else all[to % all.length]?.focus()
    event.preventDefault()
    event.stopPropagation()
  }

  return (
    <div class="menu" ref={host}>
      <IconButton
        icon="more"
        label={label}
        small
        aria-haspopup="menu"
        aria-expanded={isOpen}
        aria-controls={isOpen ? id : undefined}
        onClick={() => setOpen(!isOpen)}
        onKeyDown={event => {
          if (event.key !== 'ArrowDown') return
          event.preventDefault()
          setOpen(true)
        }}
      />
      {isOpen && (
        <div id={id} ref={list} role="menu" aria-label={label} popover="manual" onKeyDown={move}>
          {items.map(({ label, icon, danger, onSelect }) => (
            <button
              key={label}
              type="button"
              role="menuitem"
              tabIndex={-1}
              class={danger ? 'danger' : undefined}
              onClick={() => {
                shut()
                onSelect()
              }}
            >
              {icon && <Icon name={icon} />}
              {label}
            </button>
          ))}
        </div>
      )}
    </div>
  )
}

/** Places the menu below the button, aligned to its right edge, or above it if there is no space below. */
function placeBy(button: HTMLElement, menu: HTMLElement): void {
  const { bottom, top, right } = button.getBoundingClientRect()
  const { offsetHeight, offsetWidth } = menu
  const y = bottom + 4 + offsetHeight > innerHeight ? top - 4 - offsetHeight : bottom + 4
  menu.style.setProperty('top', `${Math.max(4, y)}px`)
  menu.style.setProperty('left', `${Math.max(4, right - offsetWidth)}px`)
}
