import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'

interface TabsProps<V extends string> {
  readonly label: string
  readonly value: V
  readonly onValue: (value: V) => void
  readonly tabs: readonly { readonly value: V; readonly label: ComponentChildren }[]
  readonly children: ComponentChildren
}

const STEPS: { readonly [key: string]: number } = { ArrowLeft: -1, ArrowRight: 1 }

/** Tabs with one visible panel. Arrow keys move between the tabs. */
export function Tabs<V extends string>({ label, value, onValue, tabs, children }: TabsProps<V>) {
  const id = useId()
  const at = tabs.findIndex(one => one.value === value)
  const move = (event: KeyboardEvent): void => {
    const step = STEPS[event.key]
    if (step === undefined) return
    event.preventDefault()
    const next = tabs[(at + step + tabs.length) % tabs.length]!
    onValue(next.value)
    document.getElementById(`${id}-${next.value}`)?.focus()
  }
  return (
    <div class="tabs">
      <div role="tablist" aria-label={label} onKeyDown={move}>
        {tabs.map(one => (
          <button
            key={one.value}
            id={`${id}-${one.value}`}
            type="button"
            role="tab"
            aria-selected={one.value === value}
            aria-controls={`${id}-panel`}
            tabIndex={one.value === value ? 0 : -1}
            onClick={() => onValue(one.value)}
          >
            {one.label}
          </button>
        ))}
      </div>
      <div id={`${id}-panel`} role="tabpanel" aria-labelledby={`${id}-${value}`}>
        {children}
      </div>
    </div>
  )
}
