import type { ComponentChildren } from 'preact'
import { useId, useLayoutEffect, useRef } from 'preact/hooks'
import { common } from '../i18n/common.ts'
import { IconButton } from './button.tsx'
import { noteOpen } from './open-dialogs.ts'
import { Toasts } from './toast.tsx'

interface DialogProps {
  readonly title: string
  readonly onClose: () => void
  readonly children: ComponentChildren
  /** Buttons, with the main action last. */
  readonly footer?: ComponentChildren
  /** `side` shows a panel at the right edge, for long content and forms. */
  readonly place?: 'middle' | 'side'
  readonly wide?: boolean
  /** Makes the dialog a form: Enter in a field calls this, and so does a footer button of type `submit`. */
  readonly onSubmit?: () => unknown
  /** Only the footer's buttons close the dialog, because closing would lose its content. */
  readonly sticky?: boolean
}

/** A modal dialog, open while the component is mounted. Escape closes it, and the focus then returns. */
export function Dialog({ title, onClose, children, footer, place = 'middle', wide, onSubmit, sticky }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  const id = useId()
  useLayoutEffect(() => {
    const before = document.activeElement
    const element = dialog.current!
    element.showModal()
    element.querySelector<HTMLElement>('[data-autofocus]')?.focus()
    const noteClosed = noteOpen(id)
    return () => {
      noteClosed()
      element.close()
      if (before instanceof HTMLElement && before.isConnected) before.focus()
    }
  }, [])
  const inner = (
    <>
      <header>
        <h2 id={id}>{title}</h2>
        {!sticky && <IconButton icon="close" label={common().close} onClick={onClose} />}
      </header>
      <div class="body">{children}</div>
      {footer && <footer>{footer}</footer>}
      <Toasts within={id} />
    </>
  )
  return (
    <dialog
      ref={dialog}
      class={`dialog ${place} ${wide ? 'wide' : ''}`}
      aria-labelledby={id}
      data-once={sticky ? '' : undefined}
      onCancel={event => {
        event.preventDefault()
        if (!sticky) onClose()
      }}
      onClose={() => {
        // Browsers close a dialog after several presses of Escape without asking the page.
        if (!dialog.current?.isConnected) return
        if (sticky) dialog.current.showModal()
        else onClose()
      }}
      onMouseDown={({ target }) => {
        if (!sticky && target === dialog.current && !hasTypedText(dialog.current)) onClose()
      }}
    >
      {onSubmit === undefined ? (
        <div class="frame">{inner}</div>
      ) : (
        <form
          class="frame"
          novalidate
          // The page of an ended session waits for typed text (`isWaiting`).
          onInput={event => event.currentTarget.setAttribute('data-typed', '')}
          onSubmit={event => {
            event.preventDefault()
            onSubmit()
          }}
        >
          {inner}
        </form>
      )}
    </dialog>
  )
}

/** Returns true if the dialog's form has typed text, which a click beside it must not lose. */
const hasTypedText = (dialog: Element | null): boolean => dialog?.querySelector('form[data-typed]') != null
