import type { ComponentChildren, JSX } from 'preact'
import { useState } from 'preact/hooks'
import { Icon, type IconName } from './icon.tsx'

type Native = Omit<JSX.IntrinsicElements['button'], 'onClick' | 'icon' | 'loading'>

export interface ButtonProps extends Native {
  /** `primary` is the main action, `danger` cannot be undone, and `plain` has no border. */
  readonly kind?: 'primary' | 'secondary' | 'plain' | 'danger'
  readonly small?: boolean
  readonly icon?: IconName
  /**
   * Clicks have no effect during work. A promise returned by `onClick` has the same effect until it settles. The button
   * keeps the focus, which a disabled one would lose.
   */
  readonly busy?: boolean
  readonly onClick?: (event: MouseEvent) => unknown
  readonly children?: ComponentChildren
}

/** A button with an optional icon that does nothing while its work runs. */
export function Button({ kind = 'secondary', small, icon, busy, onClick, children, ...native }: ButtonProps) {
  const [running, setRunning] = useState(false)
  const isBusy = busy === true || running
  const click = (event: MouseEvent): void => {
    if (isBusy) {
      event.preventDefault()
      return
    }
    const work = onClick?.(event)
    if (!(work instanceof Promise)) return
    setRunning(true)
    void work.finally(() => setRunning(false))
  }
  const classes = ['button', kind, small ? 'small' : '', children === undefined ? 'only-icon' : '', native.class]
  return (
    <button
      type="button"
      {...native}
      class={classes.filter(Boolean).join(' ')}
      aria-disabled={isBusy ? true : undefined}
      aria-busy={isBusy}
      onClick={click}
    >
      {icon && <Icon name={icon} />}
      {children}
    </button>
  )
}

/** A button with only an icon. Its label is a tooltip and for screen readers. */
export const IconButton = ({ label, ...props }: ButtonProps & { readonly icon: IconName; readonly label: string }) => (
  <Button kind="plain" {...props} aria-label={label} title={label} />
)
